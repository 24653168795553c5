# The `sheaf` program, end to end, and the samples. The tests of its pure parts are in test_pure.
if(TARGET sheaf_cli)
  # sheaf_cli_test(NAME MODULE...): runs these tests in one process, in which they share servers.
  function(sheaf_cli_test name)
    add_test(NAME cli.${name}
             COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/cli/end_to_end.py"
                     "$<TARGET_FILE:sheaf_cli>" ${ARGN})
    set_tests_properties(cli.${name} PROPERTIES TIMEOUT 900)
  endfunction()

  find_package(Python3 3.9 COMPONENTS Interpreter)
  if(Python3_FOUND)
    foreach(module IN ITEMS test_doctor test_metrics test_one_process test_terminal)
      sheaf_cli_test(${module} ${module})
    endforeach()
    if(TARGET sheaf_test_broker)  # mosquitto is installed
      set(modules test_dev)
      if(SHEAF_TLS)
        list(APPEND modules test_dev_pod)
      endif()
      sheaf_cli_test(dev_brokers ${modules})
      sheaf_cli_test(on_brokers test_brokers test_lists test_locks test_numbers test_watch)
      set(environment "SHEAF_PLUGIN=$<TARGET_FILE:sheaf_statestore>")
      if(SHEAF_SANITIZE STREQUAL "address")
        list(APPEND environment "SHEAF_BROKER_PRELOAD=${preload}")
      endif()
      set_tests_properties(cli.on_brokers PROPERTIES ENVIRONMENT "${environment}")
    endif()
    if(TARGET sheaf_test_memcached)
      set(modules test_load test_memcached test_memcached_locks)
      if(SHEAF_MIGRATION)
        list(APPEND modules test_migrate)
      endif()
      if(TARGET thermostat)
        list(APPEND modules test_samples)
      endif()
      sheaf_cli_test(on_memcached ${modules})
      if(TARGET thermostat)
        set_tests_properties(cli.on_memcached PROPERTIES
                             ENVIRONMENT "SHEAF_SAMPLES=$<TARGET_FILE_DIR:thermostat>")
      endif()
    endif()
    if(TARGET sheaf_test_redis)
      sheaf_cli_test(dev_redis test_dev_redis)
      sheaf_cli_test(on_redis test_exec test_redis test_mistakes)
    endif()
    # These find out at run time if Garnet and Valkey are installed.
    foreach(kind IN ITEMS garnet valkey)
      sheaf_cli_test(dev_${kind} test_dev_${kind})
      set_tests_properties(cli.dev_${kind} PROPERTIES SKIP_REGULAR_EXPRESSION ": Skipped")
    endforeach()
    if(TARGET sheaf_test_broker AND TARGET sheaf_make_credentials)
      sheaf_cli_test(test_tls test_tls)
      set(environment "SHEAF_MAKE_CREDENTIALS=$<TARGET_FILE:sheaf_make_credentials>"
                      "SHEAF_PLUGIN=$<TARGET_FILE:sheaf_statestore>")
      if(SHEAF_SANITIZE STREQUAL "address")
        list(APPEND environment "SHEAF_BROKER_PRELOAD=${preload}")
      endif()
      set_tests_properties(cli.test_tls PROPERTIES ENVIRONMENT "${environment}")
    endif()
  endif()
endif()

# The samples run on their own stores here; samples/quickstart.sh runs them on brokers.
foreach(sample IN ITEMS quickstart get_or_compute batch_read error_handling multi_broker_cache
        fenced_writes active_standby leader work_list thermostat event_loop own_loop asio_all
        tracing)
  if(TARGET ${sample})
    add_test(NAME samples.${sample} COMMAND ${sample})
    set_tests_properties(samples.${sample} PROPERTIES TIMEOUT 60)
  endif()
endforeach()
# This sample starts memcached servers with the program.
if(TARGET stale_after_return AND TARGET sheaf_cli AND TARGET sheaf_test_memcached)
  add_test(NAME samples.stale_after_return
           COMMAND stale_after_return "$<TARGET_FILE:sheaf_cli>")
  set_tests_properties(samples.stale_after_return PROPERTIES TIMEOUT 60)
endif()
