# The `sheaf` program, end to end, and the samples. The tests of its pure parts are in test_pure.
if(TARGET sheaf_cli)
  find_package(Python3 3.9 COMPONENTS Interpreter)
  if(Python3_FOUND)
    set(cli_modules test_metrics test_one_process test_terminal)
    if(TARGET sheaf_test_broker)  # mosquitto is installed
      list(APPEND cli_modules test_brokers test_dev test_lists test_locks test_watch)
    endif()
    if(TARGET sheaf_test_memcached)
      list(APPEND cli_modules test_load test_memcached test_memcached_locks)
      if(SHEAF_MIGRATION)
        list(APPEND cli_modules test_migrate)
      endif()
    endif()
    if(TARGET sheaf_test_redis)
      list(APPEND cli_modules test_dev_redis test_exec test_redis)
    endif()
    list(APPEND cli_modules test_dev_garnet test_dev_valkey)
    if(TARGET sheaf_test_broker AND TARGET sheaf_make_credentials)
      list(APPEND cli_modules test_tls)
    endif()
    foreach(module IN LISTS cli_modules)
      add_test(NAME cli.${module}
               COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/cli/end_to_end.py"
                       "$<TARGET_FILE:sheaf_cli>" ${module})
      set_tests_properties(cli.${module} PROPERTIES TIMEOUT 600)
    endforeach()
    if(test_tls IN_LIST cli_modules)
      set(environment "SHEAF_MAKE_CREDENTIALS=$<TARGET_FILE:sheaf_make_credentials>"
                      "SHEAF_PLUGIN=$<TARGET_FILE:sheaf_statestore>")
      if(SHEAF_SANITIZE STREQUAL "address")
        list(APPEND environment "SHEAF_BROKER_PRELOAD=${preload}")
      endif()
      set_tests_properties(cli.test_tls PROPERTIES ENVIRONMENT "${environment}")
    endif()
    # These find out at run time if Garnet and Valkey are installed.
    set_tests_properties(cli.test_dev_garnet cli.test_dev_valkey PROPERTIES
                         SKIP_REGULAR_EXPRESSION ": Skipped")
  endif()
endif()

# The samples run on their own stores here; samples/quickstart.sh runs them on brokers.
foreach(sample IN ITEMS quickstart get_or_compute batch_read error_handling multi_broker_cache
        fenced_writes active_standby work_list thermostat event_loop own_loop asio_all
        tracing)
  if(TARGET ${sample})
    add_test(NAME samples.${sample} COMMAND ${sample})
    set_tests_properties(samples.${sample} PROPERTIES TIMEOUT 60)
  endif()
endforeach()
# The samples that take a URI, on memcached servers that the program starts.
if(TARGET thermostat AND TARGET sheaf_cli AND TARGET sheaf_test_memcached AND Python3_FOUND)
  add_test(NAME samples.on_memcached
           COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/cli/end_to_end.py"
                   "$<TARGET_FILE:sheaf_cli>" test_samples)
  set_tests_properties(samples.on_memcached PROPERTIES TIMEOUT 300
                       ENVIRONMENT "SHEAF_SAMPLES=$<TARGET_FILE_DIR:thermostat>")
endif()
# This sample starts memcached servers with the program.
if(TARGET stale_after_return AND TARGET sheaf_cli AND TARGET sheaf_test_memcached)
  add_test(NAME samples.stale_after_return
           COMMAND stale_after_return "$<TARGET_FILE:sheaf_cli>")
  set_tests_properties(samples.stale_after_return PROPERTIES TIMEOUT 60)
endif()
