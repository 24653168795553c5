#include "cli/command_list.h"

#include <array>

namespace sheaf::cli {

// Each command defines its row in its own file.
CommandRow get_command(), set_command(), del_command(), exists_command(), append_command(),
    prepend_command(), getset_command(), incr_command(), touch_command(), ttl_command(),
    keys_command(), mget_command(), mset_command(), watch_command(), lock_command();
CommandRow list_push_command(), list_insert_command(), list_update_command(), list_remove_command(),
    list_range_command(), list_len_command(), list_clear_command(), list_drop_holes_command();
CommandRow locate_command(), ring_command(), nodes_command(), doctor_command(), stats_command(),
    top_command(), bench_command(), exec_command();
#ifdef SHEAF_HAS_MIGRATION
CommandRow migrate_command();
#endif
CommandRow dev_command(), help_command(), completion_command(), man_command();

// In the order of the help.
CommandTable command_list() {
  static const std::array rows{get_command(),
                               set_command(),
                               del_command(),
                               exists_command(),
                               append_command(),
                               prepend_command(),
                               getset_command(),
                               incr_command(),
                               touch_command(),
                               ttl_command(),
                               keys_command(),
                               mget_command(),
                               mset_command(),
                               watch_command(),
                               lock_command(),
                               list_push_command(),
                               list_insert_command(),
                               list_update_command(),
                               list_remove_command(),
                               list_range_command(),
                               list_len_command(),
                               list_clear_command(),
                               list_drop_holes_command(),
                               locate_command(),
                               ring_command(),
                               nodes_command(),
                               doctor_command(),
                               stats_command(),
                               top_command(),
                               bench_command(),
#ifdef SHEAF_HAS_MIGRATION
                               migrate_command(),
#endif
                               exec_command(),
                               dev_command(),
                               help_command(),
                               completion_command(),
                               man_command()};
  return rows;
}

}  // namespace sheaf::cli
