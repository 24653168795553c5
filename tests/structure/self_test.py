#!/usr/bin/env python3
"""Shows that every structure rule can fail: each is fed a small bad tree, and a good one."""

import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import check  # noqa: E402
import batches  # noqa: E402
import classes  # noqa: E402
import rules  # noqa: E402
import source  # noqa: E402
import words  # noqa: E402
from forms_self_test import Forms  # noqa: E402, F401 (main() runs it)
from phrases_self_test import Phrases  # noqa: E402, F401
from thread_safety_self_test import ThreadSafety  # noqa: E402, F401


def tree(**files):
    return [source.File(path, text) for path, text in files.items()]


def run(rule, path, text, *others):
    files = [source.File(path, text)] + [source.File(p, "#pragma once\n") for p in others]
    return list(rule(files))


class Arrows(unittest.TestCase):
    def check_include(self, path, included, allowed):
        found = run(rules.arrows, path, '#include "%s"\n' % included, included)
        self.assertEqual(not found, allowed, (path, included, found))

    def test_down_is_allowed(self):
        self.check_include("client/client.cpp", "cluster/client_cluster.h", True)
        self.check_include("store/engine/engine.cpp", "protocol/statestore/hlc.h", True)
        self.check_include("tests/node/a.cpp", "node/client_node.h", True)

    def test_up_and_sideways_are_refused(self):
        self.check_include("base/hash.cpp", "protocol/operation.h", False)
        self.check_include("protocol/a.cpp", "socket/seam.h", False)
        self.check_include("socket/lane/lane.cpp", "node/client_node.h", False)
        self.check_include("node/client_node.cpp", "cluster/client_cluster.h", False)
        self.check_include("cluster/plan.cpp", "client/client.h", False)
        self.check_include("store/engine/engine.cpp", "store/server/server.h", False)
        self.check_include("store/server/server.cpp", "socket/seam.h", False)
        self.check_include("node/client_node.cpp", "store/pipe/pipe.h", False)
        self.check_include("store/plugin/plugin.cpp", "socket/seam.h", False)

    def test_rooms_of_a_layer(self):
        for above, below in (("client/calls", "client/runtime"), ("client/lock", "client/calls"),
                             ("client/list", "client/runtime"), ("client", "client/compute"),
                             ("socket/uv", "socket"), ("socket/lane", "socket"),
                             ("protocol/statestore", "protocol/mqtt5"),
                             ("cluster/config", "cluster/placement"), ("cluster", "cluster/moving"),
                             ("cluster/moving", "cluster/nodes"), ("cli/dev", "cli/commands"),
                             ("cli", "cli/dev"), ("cli/commands", "cli/migrate"),
                             ("cli/migrate", "cli/show"), ("cli/line", "cli/system"),
                             ("protocol/resp", "protocol/resp/changes"),
                             ("protocol/resp/changes", "protocol/resp/greeting"),
                             ("protocol/resp/greeting", "protocol/resp/cluster"),
                             ("protocol/resp/cluster", "protocol/resp/wire")):
            self.check_include(above + "/a.h", below + "/b.h", True)
            self.check_include(below + "/b.h", above + "/a.h", False)
        for one, other in (("client/lock", "client/list"), ("client/watch", "client/compute"),
                           ("socket/lane", "socket/uv"), ("protocol/memcached", "protocol/mqtt5"),
                           ("cluster/config", "cluster/moving"), ("cli/line", "cli/show")):
            self.check_include(one + "/a.h", other + "/b.h", False)
            self.check_include(other + "/b.h", one + "/a.h", False)
        self.check_include("tests/client/lock/a.cpp", "client/list/b.h", True)
        self.check_include("protocol/memcached/a.h", "protocol/b.h", True)
        self.check_include("client/calls/a.h", "socket/uv/b.h", True)
        self.check_include("protocol/resp/wire/a.h", "protocol/b.h", True)

    def test_a_library_of_its_own_sees_public_headers_and_base(self):
        self.check_include("extras/migration/a.cpp", "extras/migration/b.h", True)
        self.check_include("extras/migration/a.cpp", "base/text.h", True)
        self.check_include("extras/migration/a.cpp", "client/calls/checks.h", False)
        self.check_include("extras/migration/a.cpp", "protocol/memcached/rules.h", False)
        self.check_include("extras/leader/a.cpp", "base/text.h", True)
        self.check_include("extras/leader/a.cpp", "client/lock/lock_plan.h", False)
        self.check_include("extras/discovery/a.cpp", "socket/uv/uv_loop.h", True)
        self.check_include("extras/discovery/a.cpp", "extras/discovery/dns/b.h", True)
        self.check_include("extras/discovery/dns/a.cpp", "extras/discovery/b.h", False)
        self.check_include("extras/discovery/a.cpp", "cluster/config/config_check.h", False)
        self.check_include("extras/discovery/a.cpp", "extras/migration/b.h", False)
        self.check_include("cli/migrate/a.cpp", "extras/migration/b.h", True)
        self.check_include("client/client.cpp", "extras/migration/b.h", False)

    def test_only_programs_see_the_headers_of_a_library_of_its_own(self):
        header = "extras/migration/include/sheaf/moving.h"
        for path, allowed in (("extras/migration/a.cpp", True), ("cli/migrate/a.cpp", True),
                              ("samples/a.cpp", True), ("tests/live/a.cpp", True),
                              ("client/client.cpp", False), ("include/sheaf/client.h", False)):
            found = run(rules.arrows, path, "#include <sheaf/moving.h>\n", header)
            self.assertEqual(not found, allowed, (path, found))

    def test_samples_see_the_public_headers_only(self):
        self.check_include("samples/cache.cpp", "base/text.h", False)

    def test_one_file_of_the_client_knows_the_pipe(self):
        self.check_include("client/runtime/dialer_factory.cpp", "store/pipe/pipe.h", True)
        self.check_include("client/client.cpp", "store/pipe/pipe.h", False)

    def test_internal_headers_are_named_from_the_root(self):
        self.assertTrue(run(rules.arrows, "node/a.cpp", '#include "b.h"\n', "node/b.h"))

    def test_only_values_below_the_client(self):
        self.assertFalse(run(rules.arrows, "protocol/a.cpp", "#include <sheaf/result.h>\n"))
        self.assertTrue(run(rules.arrows, "cluster/a.cpp", "#include <sheaf/client.h>\n"))

    def test_link_targets(self):
        good = "base: Threads::Threads\nsocket: sheaf_protocol;sheaf_base;PkgConfig::SHEAF_UV\n"
        self.assertEqual(list(rules.link_targets(good)), [])
        self.assertTrue(list(rules.link_targets("protocol: sheaf_socket\n")))
        self.assertTrue(list(rules.link_targets("node: PkgConfig::SHEAF_UV\n")))

    def test_links_of_a_library_of_its_own(self):
        good = "extras_migration: sheaf;sheaf_base\ncli: sheaf;sheaf_migration\n"
        self.assertEqual(list(rules.link_targets(good)), [])
        self.assertTrue(list(rules.link_targets("extras_migration: sheaf_protocol\n")))
        self.assertTrue(list(rules.link_targets("client: sheaf_migration\n")))
        self.assertTrue(list(rules.link_targets("client: sheaf\n")))


class ThirdParties(unittest.TestCase):
    def test_each_has_its_home(self):
        homes = {"uv.h": "socket/uv/uv_loop.cpp", "xxhash.h": "base/hash.cpp",
                 "nlohmann/json.hpp": "base/strict_json.cpp", "CLI/CLI.hpp": "cli/main.cpp",
                 "mosquitto_plugin.h": "store/plugin/plugin.cpp", "gtest/gtest.h": "tests/a.cpp",
                 "openssl/ssl.h": "socket/tls/tls_stream.cpp",
                 "sqlite3.h": "store/durable/sqlite_log.cpp",
                 "benchmark/benchmark.h": "bench/a.cpp", "asio.hpp": "tests/contract/a.cpp"}
        for header, home in homes.items():
            text = "#include <%s>\n" % header
            self.assertFalse(run(rules.third_parties, home, text), header)
            self.assertTrue(run(rules.third_parties, "node/client_node.cpp", text), header)

    def test_json_in_three_files_at_most(self):
        names = ["base/strict_json.cpp", "include/sheaf/json.h", "cli/show/a.cpp"]
        files = [source.File(n, "#include <nlohmann/json.hpp>\n") for n in names]
        self.assertFalse(list(rules.json_users(files)))
        files.append(source.File("cli/b.cpp", "#include <nlohmann/json.hpp>\n"))
        self.assertTrue(list(rules.json_users(files)))


class Commands(unittest.TestCase):
    def test_a_row_that_is_not_listed_is_found(self):
        row = source.File("cli/commands/a.cpp", "CommandRow get_command() {\n  return {};\n}\n")
        for listed, problems in (("CommandRow get_command();\nrows{get_command()};\n", 0),
                                 ("CommandRow get_command();\nrows{};\n", 1),
                                 ("CommandRow getset_command();\nrows{getset_command()};\n", 1)):
            files = [row, source.File(rules.COMMAND_LIST, listed)]
            self.assertEqual(len(list(rules.listed_commands(files))), problems, listed)


class Pure(unittest.TestCase):
    MARKED = "// A thing.\n//\n" + rules.PURE_MARKER + "\n\n"
    BAD = ["#include <thread>", "#include <mutex>", "#include <sys/socket.h>",
           "#include <unistd.h>", "auto t = std::chrono::steady_clock::now();",
           "Now n = read_clocks();", "std::random_device d;", "Seed s = entropy();",
           "std::function<void()> f;", "std::atomic<int> a;", "const char* p = getenv(\"X\");"]

    def test_each_impurity_of_a_marked_file_is_found(self):
        for text in self.BAD:
            for path in ("protocol/mqtt5/a.cpp", "store/engine/a.h", "client/lock/plan.cpp"):
                for start in ("", "#pragma once\n\n"):
                    found = run(rules.pure_files, path, start + self.MARKED + text + "\n")
                    self.assertEqual(len(found), 1, (path, text, found))
            self.assertFalse(run(rules.pure_files, "socket/lane/lane.cpp", text + "\n"), text)

    def test_pure_files_without_a_marker(self):
        header = "#pragma once\n\n" + self.MARKED
        for text in self.BAD:
            files = tree(**{"node/health.h": header, "node/health.cpp": text + "\n"})
            self.assertTrue(list(rules.pure_files(files)), text)
        for claim in ("// A plan. Pure.\n", "// Pure: values in, values out.\n"):
            self.assertTrue(run(rules.pure_files, "node/plan.h", "#pragma once\n\n" + claim), claim)

    def test_a_folder_that_is_pure_has_the_marker_everywhere(self):
        for path in ("protocol/a.h", "protocol/mqtt5/a.cpp", "store/engine/a.h",
                     "store/server/a.cpp"):
            self.assertTrue(run(rules.pure_files, path, "#pragma once\n\n// A thing.\n"), path)
            self.assertFalse(run(rules.pure_files, path, "#pragma once\n\n" + self.MARKED), path)
        self.assertFalse(run(rules.pure_files, "socket/a.h", "#pragma once\n\n// A thing.\n"))

    def test_the_marker_stands_in_the_first_comment(self):
        text = "#include <new>\n\n" + rules.PURE_MARKER + "\n"
        self.assertTrue(run(rules.pure_files, "socket/a.cpp", text))

    def test_purity_includes_what_is_included(self):
        headers = {"node/pure.h": "#pragma once\n\n" + self.MARKED, "base/text.h": "#pragma once\n",
                   "node/line.h": "#pragma once\n", "base/parker.h": "#include <mutex>\n"}
        good = {"node/pure.h": True, "base/text.h": True, "node/line.h": False,
                "base/parker.h": False}
        for name, allowed in good.items():
            files = tree(**headers, **{"node/plan.cpp": self.MARKED + '#include "%s"\n' % name})
            found = list(rules.pure_files(files))
            self.assertEqual(not found, allowed, (name, found))

    def test_comments_and_texts_are_no_code(self):
        text = self.MARKED + '// no steady_clock here\nconst char* p = "system_clock";\n'
        self.assertFalse(run(rules.pure_files, "protocol/a.cpp", text))


class Sizes(unittest.TestCase):
    def function(self, lines, head="void f() {"):
        return head + "\n" + "  g();\n" * (lines - 2) + "}\n"

    def test_columns(self):
        self.assertFalse(run(rules.sizes, "base/a.cpp", "//" + "x" * 98 + "\n"))
        self.assertTrue(run(rules.sizes, "base/a.cpp", "//" + "x" * 99 + "\n"))

    def test_file_length(self):
        self.assertFalse(run(rules.sizes, "base/a.cpp", "\n" * 600))
        self.assertTrue(run(rules.sizes, "base/a.cpp", "\n" * 601))

    def test_function_length(self):
        heads = ["void f() {", "int A::f(int a = 3) const {", "TEST(Suite, Name) {",
                 "template <class T>\nstd::vector<T> f() {", "A::A(int a) : a_{a}, b_(a) {",
                 "auto f = [](int a) {", "bool operator==(A a) {", "A::A() noexcept : B<int>() {"]
        for head in heads:
            text = self.function(70 - head.count("\n"), head)
            self.assertFalse(run(rules.sizes, "base/a.cpp", text), head)
            text = self.function(71 - head.count("\n"), head)
            self.assertTrue(run(rules.sizes, "base/a.cpp", text), head)
            nested = "namespace a {\nclass B {\n" + text + "};\n}\n"
            self.assertTrue(run(rules.sizes, "base/a.cpp", nested), head)

    def test_tables_and_classes_may_be_long(self):
        for head in ("const int table[] = {", "class A final : public B {", "enum class A : int {"):
            text = head + "\n" + "  f,\n" * 100 + "};\n"
            self.assertFalse(run(rules.sizes, "base/a.cpp", text), head)

    def test_braces_in_literals_do_not_count(self):
        text = "void f() {\n  g('{', \"}}\", R\"({{)\", 1'000);\n}  // }\n"
        self.assertFalse(run(rules.sizes, "base/a.cpp", text))

    def test_unbalanced_braces_are_reported(self):
        self.assertTrue(run(rules.sizes, "base/a.cpp", "void f() {{\n}\n"))
        self.assertTrue(run(rules.sizes, "base/a.cpp", "}\n"))


class Text(unittest.TestCase):
    def test_each_is_found(self):
        slash = "/"
        bad = {"base/a.h": "int a;\n", "base/a.cpp": "// TO" + "DO later\n", "base/b.cpp": "int a;",
               "base/c.cpp": "int a; \n", "base/d.cpp": "\tint a;\n", "cmake/a.cmake": "\n\n",
               "tests/run.sh": "cd " + slash + "work/main\n", "docs/a.md": slash + "tmp/x\n",
               "tests/a/b.cpp": "std::this_thread::sleep_for(1s);\n"}
        for path, text in bad.items():
            self.assertTrue(run(rules.text_rules, path, text), path)

    def test_good_text(self):
        self.assertFalse(run(rules.text_rules, "base/a.h", "#pragma once\nint a;\n"))
        self.assertFalse(run(rules.text_rules, "cmake/a.sh", "echo \"$PWD/work/a\" a/tmp/b\n"))


    def test_torn_comments(self):
        torn = "// %s\n// then\n//   it goes on\n" % ("x" * 90)
        self.assertTrue(run(rules.torn_comments, "base/a.cpp", torn))
        self.assertTrue(run(rules.torn_comments, "base/a.h", torn.replace("//", "///")))
        for good in ("// short\n// then\n//   it goes on\n",
                     "// %s\n// end.\n//   it goes on\n" % ("x" * 90),
                     "// %s\n// then\n// it goes on\n" % ("x" * 90)):
            self.assertFalse(run(rules.torn_comments, "base/a.cpp", good), good)


class ThreadState(unittest.TestCase):
    def test_state_of_a_thread_of_the_system(self):
        bad = ["thread_local int depth = 0;\n", "auto id = std::this_thread::get_id();\n",
               "auto id = pthread_self();\n"]
        for text in bad:
            self.assertTrue(run(rules.thread_state, "client/a.cpp", text), text)

    def test_state_where_it_belongs(self):
        self.assertFalse(run(rules.thread_state, "client/a.cpp", "// no thread_local here\n"))
        self.assertFalse(run(rules.thread_state, "base/this_thread.cpp", "thread_local int a;\n"))
        self.assertFalse(run(rules.thread_state, "tests/a.cpp", "thread_local int a;\n"))


class Dead(unittest.TestCase):
    def test_header_that_nobody_includes(self):
        self.assertTrue(run(rules.dead_headers, "node/a.cpp", "\n", "node/a.h"))
        self.assertFalse(run(rules.dead_headers, "node/a.cpp", '#include "node/a.h"\n', "node/a.h"))

    def test_source_that_no_target_compiles(self):
        files = tree(**{"node/a.cpp": "\n", "cli/b.cpp": "\n"})
        self.assertEqual(len(list(rules.dead_sources(files, {"node/a.cpp"}))), 1)
        self.assertEqual(list(rules.dead_sources(files, {"node/a.cpp"}, ["cli/"])), [])


class Batches(unittest.TestCase):
    HEADER = "#pragma once\nnamespace sheaf {\nstruct List {};\nusing Name = int;\n}\n"

    def problems(self, space, declared, path="client/list/a.cpp"):
        text = "namespace %s {\nnamespace {\n%s\n}\n}\n" % (space, declared)
        return list(batches.hidden_types(tree(**{"include/sheaf/list.h": self.HEADER, path: text})))

    def test_a_type_that_hides_one_of_a_header(self):
        for space in ("sheaf", "sheaf::client"):
            for declared in ("class List {};", "enum class List { a };", "using Name = char;"):
                self.assertEqual(len(self.problems(space, declared)), 1, declared)

    def test_types_that_hide_nothing(self):
        for space, declared in (("other", "class List {};"), ("sheaf", "class Lists {};"),
                                ("sheaf", "using Name = int;"), ("sheaf", "int List();"),
                                ("sheaf", "class A {\n  class List {};\n};")):
            self.assertEqual(self.problems(space, declared), [], declared)
        self.assertEqual(self.problems("sheaf", "class List {};", "samples/a.cpp"), [])


class Classes(unittest.TestCase):
    def test_member_functions_of_a_class(self):
        for head in ("class A {", "struct A final : public B<int> {", "class SHEAF_EXPORT B::A {",
                     "template <class T>\nclass A : private B {", "class A {\n  int a_ = 1;"):
            text = "namespace sheaf::node {\nstruct C {\n  void f();\n};\n" + head + "\n"
            text += "".join("  void f%d(int a);\n" % i for i in range(34))
            good = text + "  A() = default;\n  int a_;\n};\nvoid g();\n}\n"
            self.assertFalse(run(classes.class_sizes, "node/a.h", good), head)
            bad = text + "  int f() { return 1; }\n  bool operator==(const A&) const;\n};\n}\n"
            self.assertTrue(run(classes.class_sizes, "node/a.h", bad), head)
            self.assertFalse(run(classes.class_sizes, "tests/node/a.h", bad), head)

    def test_booleans_of_a_class(self):
        start = "namespace sheaf::node {\nclass A {\n  Phase phase_ = Phase::idle;\n"
        four = "  bool a_ = false;\n  mutable bool b_{false};\n  bool c_ = false, d_ = false;\n"
        end = "};\n}\n"
        self.assertFalse(run(classes.booleans, "node/a.h", start + four + end))
        for fifth in ("bool e_ = false;", "std::atomic<bool> e_ = false;", "bool e_;",
                      "bool e_ SHEAF_GUARDED_BY(mutex_) = false;", "std::optional<bool> e_;"):
            bad = start + four + "  " + fifth + "\n" + end
            self.assertEqual(len(run(classes.booleans, "node/a.h", bad)), 1, fifth)
            self.assertFalse(run(classes.booleans, "tests/node/a.h", bad), fifth)

    def test_booleans_that_are_no_state(self):
        start = "namespace sheaf::node {\nclass A {\n  bool a_ = false, b_ = false, c_, d_;\n"
        for fifth in ("bool e() const;", "const bool e_;", "static constexpr bool e_ = true;",
                      "bool* e_ = nullptr;", "struct B {\n    bool e_ = false;\n  };",
                      "void f(bool e_);", "bool f(bool e_) { return e_; }"):
            text = start + "  " + fifth + "\n};\n}\n"
            self.assertFalse(run(classes.booleans, "node/a.h", text), fifth)
        options = "struct Options {\n" + "".join("  bool f%d = false;\n" % i for i in range(9))
        self.assertFalse(run(classes.booleans, "node/a.h", options + "};\n"))

    def spread(self, one, other):
        return list(classes.class_files(tree(**{"node/a.cpp": one, "node/b.cpp": other})))

    def test_a_class_in_two_source_files(self):
        start = "namespace sheaf::node {\n"
        for one, other in (("void A::f() {}", "int A::g() const { return 1; }"),
                           ("A::A() : a_(1) {}", "A::~A() {}"),
                           ("void A::B::f() {}", "A::B::B() {}"),
                           ("template <class T>\nvoid A<T>::f() {}", "bool A::operator==(A a) {}"),
                           ("Result<void> A::f() {}", "std::vector<A::B>& A::g(int a) {}")):
            one, other = start + one + "\n}\n", start + other + "\n}\n"
            self.assertEqual(len(self.spread(one, other)), 1, (one, other))

    def test_what_is_not_one_class_in_two_files(self):
        start = "namespace sheaf::node {\n"
        for one, other in (("void A::f() {}", "void B::f() {}"), ("void A::f() {}", "A f() {}"),
                           ("void A::f() {}", "}\nnamespace sheaf::list {\nvoid A::f() {}"),
                           ("void A::f() {}", "std::string f(int a) { return A::g(); }"),
                           ("int A::a = 1;", "void A::f() {}")):
            one, other = start + one + "\n}\n", start + other + "\n}\n"
            self.assertEqual(self.spread(one, other), [], (one, other))

    def test_comparisons_of_endpoint_kinds(self):
        for text in ("if (kind == EndpointKind::redis) f();", "a = EndpointKind::redis != kind;",
                     "switch (kind) {\n  case sheaf::EndpointKind::redis:\n    break;\n}",
                     "using enum EndpointKind;"):
            for path in ("node/a.cpp", "include/sheaf/a.h", "protocol/memcached/a.cpp"):
                self.assertTrue(run(classes.kind_comparisons, path, text + "\n"), (path, text))
            for path in ("protocol/endpoint_kinds.cpp", "tests/a.cpp"):
                self.assertFalse(run(classes.kind_comparisons, path, text + "\n"), (path, text))
        good = "EndpointKind kind = EndpointKind::redis;  // not == EndpointKind::redis\n"
        self.assertFalse(run(classes.kind_comparisons, "node/a.cpp", good))

    def test_the_product_does_not_know_the_kind_of_a_test(self):
        for text in ('if (scheme == "toy") f();', "make(toy::make_sessions);", "// Toy servers"):
            for path in ("protocol/endpoint_kinds.cpp", "cli/arguments.cpp"):
                self.assertTrue(run(classes.kinds_of_tests, path, text + "\n"), (path, text))
            self.assertFalse(run(classes.kinds_of_tests, "tests/toy/a.cpp", text + "\n"), text)
        self.assertFalse(run(classes.kinds_of_tests, "cli/a.cpp", "f(history);\n"))

    def test_controls_are_for_tests(self):
        for text in ("terms.controls.claim = false;", "f({.controls = off});",
                     "controls_.token =\n    false;", "f(LockControls{.claim = false});"):
            self.assertTrue(run(classes.controls, "client/lock/a.cpp", text + "\n"), text)
            self.assertFalse(run(classes.controls, "tests/sim/a.cpp", text + "\n"), text)
        for text in ("struct LockControls {\n  bool claim = true;\n};", "LockControls controls{};",
                     "if (terms_.controls.claim == on) f();", "f(terms.controls);"):
            self.assertFalse(run(classes.controls, "client/lock/a.h", text + "\n"), text)


class PublicComments(unittest.TestCase):
    HEADER = "#pragma once\n/// @file\n/// A.\nnamespace sheaf {\n%s\n}\n"

    def problems(self, body):
        return run(rules.public_comments, "include/sheaf/a.h", self.HEADER % body)

    def test_undocumented(self):
        for body in ("struct A {};", "void f();", "enum class A { a };", "using A = int;",
                     "/// A.\nenum class A {\n  a, ///< A.\n  b\n};",
                     "/// A.\nstruct A {\n  int a;\n};",
                     "/// A.\nclass A {\n public:\n  int a();\n};",
                     "/// A.\nstruct A {\n  int a() { return 1; }\n};",
                     "/// A.\nvoid f();\n\nvoid g();"):
            self.assertTrue(self.problems(body), body)

    def test_no_file_comment(self):
        self.assertTrue(run(rules.public_comments, "include/sheaf/a.h", "#pragma once\n"))

    def test_documented(self):
        for body in ("/// A.\nvoid f();\nvoid f(int a = {});", "class A;",
                     "/// A.\nclass A {\n  int a_;\n  void f();\n};",
                     "/// A.\ntemplate <class T>\nstruct A {\n  T a;  ///< A.\n  A();\n  ~A();\n};",
                     "/// A.\nenum class A {\n  a,  ///< A.\n  b   ///< B.\n};"):
            self.assertEqual(self.problems(body), [], body)


class Pages(unittest.TestCase):
    def test_columns(self):
        for path in ("README.md", "docs/design/0001-a.md"):
            self.assertFalse(run(words.wrapped_pages, path, "x" * 100 + "\n"))
            self.assertTrue(run(words.wrapped_pages, path, "x" * 101 + "\n"))
            self.assertFalse(run(words.wrapped_pages, path, "| " + "x" * 200 + " |\n"))
        self.assertFalse(run(words.wrapped_pages, "base/a.cpp", "x" * 101 + "\n"))


class References(unittest.TestCase):
    def problems(self, path, text):
        others = {"node/line.h": "#pragma once\n", "include/sheaf/list.h": "#pragma once\n",
                  "docs/lists.md": "# Lists\n\n## What is, not\n"}
        return list(words.references(tree(**{path: text}, **others)))

    def test_good_ones(self):
        for path, text in (("README.md", "[a](docs/lists.md), [b](docs/lists.md#what-is-not)\n"),
                           ("docs/a.md", "[a](lists.md) [b](../docs) [c](https://x.org/a.md)\n"),
                           ("docs/a.md", "# Here\n[a](#here), `node/line.h`, `line.h`, `x`\n"),
                           ("node/a.cpp", "// See node/line.h, sheaf/list.h and docs/lists.md.\n"),
                           ("node/a.cpp", "// <string.h>, /proc/a.h and a.html\n"),
                           ("node/a.cpp", "#include \"uv.h\"\n")):
            self.assertEqual(self.problems(path, text), [], text)

    def test_bad_ones(self):
        for path, text in (("README.md", "[a](docs/list.md)\n"),
                           ("README.md", "[a](docs/lists.md#what)\n"),
                           ("docs/a.md", "[a](docs/lists.md)\n"), ("docs/a.md", "[a](#there)\n"),
                           ("docs/a.md", "`node/lane.h`\n"), ("docs/a.md", "`lane.h`\n"),
                           ("node/a.cpp", "f();  // see node/lane.h\n"),
                           ("node/a.cpp", "// see lane.h, which\n")):
            self.assertEqual(len(self.problems(path, text)), 1, text)


    def test_members_that_pages_name(self):
        for text, good in (("`List::push`\n", True), ("`List::pull`\n", False)):
            files = tree(**{"docs/a.md": text, "include/sheaf/list.h": "void push();\n"})
            self.assertEqual(not list(words.members(files)), good, text)

    def test_rules_and_headings_that_comments_cite(self):
        page = "## Time\n\n- T9. Timers fire last.\n"
        for text, good in (("(A.md, T9)", True), ("(A.md,\n// T9)", True), ("(A.md, T8)", False),
                           ('(A.md, "Time")', True), ('(A.md, "Space")', False)):
            files = tree(**{"A.md": page, "node/a.cpp": "// As said (%s.\n" % text[1:]})
            self.assertEqual(not list(words.cited_rules(files)), good, text)


class Words(unittest.TestCase):
    def retired(self, path, text):
        files = tree(**{path: text})
        return list(words.retired_words(files, ["courtesy", "let go", "hub"]))

    def test_retired_words_in_identifiers(self):
        for name in ("courtesy", "Courtesy_", "kCourtesy", "lock_courtesy", "let_go", "LetGo",
                     "run.let_go_now()", "WatchHub", "HTTPHub", "hub_"):
            self.assertTrue(self.retired("node/a.cpp", "f(%s);\n" % name), name)
        for name in ("courtesies", "let", "go_let", "go", "hubris", "github", "outlet_gone"):
            self.assertFalse(self.retired("node/a.cpp", "f(%s);\n" % name), name)
        text = "// a hub\nf(\"hub\");\n"
        self.assertFalse(self.retired("node/a.cpp", text))

    def test_retired_words_in_file_names_of_the_product_alone(self):
        self.assertTrue(self.retired("client/watch_hub.h", "\n"))
        self.assertTrue(self.retired("client/courtesy/a.h", "\n"))
        self.assertFalse(self.retired("tests/watch_hub.cpp", "int hub;\n"))
        self.assertFalse(self.retired("docs/hub.md", "hub\n"))

    def test_style_of_constants(self):
        for text, good in (("constexpr int kMost = 1;\n", False), ("f(a, kA);\n", False),
                           ("constexpr int most = 1;  // kMost\n", True),
                           ("f(kept, Kind());\n", True)):
            files = tree(**{"node/a.cpp": text})
            self.assertEqual(not list(words.constants(files)), good, text)

    def glossary(self, rows, code, own=("lane",)):
        start = "# Glossary\n\n| word | meaning |\n|---|---|\n"
        table = "".join("| %s | a thing |\n" % row for row in rows)
        files = tree(**{words.GLOSSARY: start + table, "node/a.cpp": code})
        return list(words.glossary(files, list(own)))

    def test_glossary(self):
        code = "// An extra\n// connection.\nclass HostLane {};\nint fencing_token;\n"
        good = ["extra connection", "fencing token", "lane, lane"]
        self.assertEqual(self.glossary(good, code), [])
        self.assertTrue(self.glossary(good[:2], code))  # an own word without a row
        self.assertTrue(self.glossary(good + ["seam"], code))  # not used anywhere
        self.assertTrue(self.glossary(["lane, seam"], code))
        self.assertTrue(self.glossary(["lane", "extra connection"], code))  # the order
        self.assertTrue(self.glossary(["lane", "lane"], code))

    def test_words_that_pages_use(self):
        files = tree(**{words.GLOSSARY: "| lane | a |\n", "docs/a.md": "A lane.\n"})
        self.assertEqual(list(words.glossary(files, ["lane"])), [])
        files = tree(**{words.GLOSSARY: "| lane | a lane |\n", "tests/a.cpp": "Lane lane;\n"})
        self.assertTrue(list(words.glossary(files, ["lane"])))


class WholeTree(unittest.TestCase):
    def test_a_bad_tree_on_disk_is_refused(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "protocol"))
            os.makedirs(os.path.join(root, "build"))
            self.write(root, "protocol/a.cpp", rules.PURE_MARKER + "\n\n#include <thread>\n")
            self.write(root, "protocol/b.cpp", "\n")
            self.write(root, "build/compile_commands.json", "[]")
            self.write(root, "build/links.txt", "base: sheaf_client\n")
            found = "\n".join(check.problems(root, os.path.join(root, "build"), []))
        for text in ("pure code includes", "no marker of pure files", "no target compiles",
                     "base may not link"):
            self.assertIn(text, found)

    def write(self, root, path, text):
        with open(os.path.join(root, path), "w", encoding="utf-8") as out:
            out.write(text)


if __name__ == "__main__":
    unittest.main()
