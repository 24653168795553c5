# Stores with a file: in-process engines, and brokers that are killed.
if(NOT SHEAF_DURABLE)
  return()
endif()
sheaf_test(durable DIR live/durable LAYERS client LIBS sheaf_test_process)
if(TARGET sheaf_test_broker)
  target_link_libraries(test_durable PRIVATE sheaf_test_broker)
  target_compile_definitions(test_durable PRIVATE SHEAF_TEST_BROKERS)
endif()
