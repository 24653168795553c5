# The one table that says which tests run where, and how.
#
#   what     a test program, test_WHAT, or a part of one, WHAT.PART
#   tests    GoogleTest's filter (tests after its "-" must be in another part); `kind`: the contract
#            on the kind of endpoint PART; `cluster`: the contract on a cluster of the software that
#            PART ends with; `rest`: the tests that no other part of the program has; `-`: not a
#            test program, and WHAT is a regular expression for names of tests
#   runs in  quick: `tests/run.sh`, and the whole optimised suite; all: only the latter; asan; tsan;
#            hour: only `tests/run.sh long` and `hour`, alone on the machine
#   shards   the number of processes that share the tests of a program. Servers are lent within a
#            process (support/lent.h), so tests of one kind of server are one part, not shards.
#   seconds  the approximate time of one of them: long ones start first
#   with     environment variables
#
# A test without a line runs in all. A program that has no test in a build is not built there.
#
# clang's AddressSanitizer looks for uses of a stack after its function has returned, as that of g++
# does not. The simulator's coroutines would take nearly twice as long with it.
#
# A sanitizer runs each kind of session and each kind of stream once. Variants that differ only in
# spelling, or below a stream, run only in the optimised suite. ThreadSanitizer runs everything that
# crosses threads, but no broker: glibc resolves a bridge's address in a thread whose start the
# sanitizer has not seen. Nor Garnet, which for a client's threads is another Redis.
set(SHEAF_SUITES
# what                                tests          runs in         shards, seconds, with
  "pure.large  *AMillionKeys*:SlotLocator.TheL*:SlotLocator.ManyH*    quick           1 10"
  "pure                                rest           quick,asan      4 10"
  "system                              *              quick,asan,tsan 1 40"
  "client                              *              quick,asan      1 10"
  "toy                                 *              quick,asan,tsan 1 3"
  "sim                                 *              quick,asan      4 60"
  "scripted                            *              quick,asan,tsan 2 30"

  "contract.plain                      rest           quick,asan,tsan 1 30"
  "contract.Embedded                   kind           quick,asan,tsan 2 30"
  "contract.EmbeddedPageSpelling       kind           all             2 30"
  "contract.Brokers                    kind           quick,asan      1 50"
  "contract.BrokersPageSpelling        kind           all             4 30"
  "contract.BrokersOverTls             kind           all             4 40"
  "contract.MemcachedMeta              kind           quick,tsan      1 60"
  "contract.MemcachedBinary            kind           all,asan        4 30"
  "contract.MemcachedOverTls           kind           all,asan        4 40"
  "contract.RedisServers               kind           all,asan,tsan   4 30"
  "contract.RedisServersInResp2        kind           all             4 30"
  "contract.RedisServersWithoutScripts kind           all,asan        4 30"
  "contract.RedisServersOverTls        kind           all             4 40"
  "contract.on_a_cluster_of_redis      cluster        quick,asan,tsan 1 80"
  "contract.on_a_cluster_of_garnet     cluster        all,asan        1 80"
  "contract.on_a_cluster_of_valkey     cluster        all             1 80"
  "contract.on_valkey  */ValkeyServers:*/ValkeyServersW*  all  1 80 SHEAF_TEST_SOFTWARE=valkey"

  "plugin.long  PluginLong*:PluginLifecycle.AKilled*:PluginN*.Forged*:\
PluginHostile.PayloadsCut*                                              all,asan        1 20"
  "plugin.others                       rest           quick,asan      1 20"
  "memory                              *              quick           1 5"
  "resp.garnet                         Garnet*        all             1 20"
  "resp.equipment   RedisServer.*:RedisClusterC*:RedisClusterU*:RedisCluster.*Failovers*\
                                                                        all,asan        1 20"
  "resp.redis                          rest           quick,asan      1 20"
  "resp.on_valkey                      -Garnet*       all  1 20 SHEAF_TEST_SOFTWARE=valkey"
  "live.on_a_cluster_of_redis          cluster        quick,asan,tsan 1 80"
  "live.on_a_cluster_of_garnet         cluster        all,asan        1 80"
  "live.on_a_cluster_of_valkey         cluster        all             1 80"
  "live.on_valkey  Redis*:*/Valkey:*/ValkeyServers:*.*Redis-*Leaders.*\
                                            all  1 80 SHEAF_TEST_SOFTWARE=valkey"
  "live.garnet                         Garnet*        all             2 60"
  "live.on_garnet                      */Garnet-*Leaders.*  all       1 60"
  "live.rotations                      Rotation.OfA*:Tokens.Tw*:TokensTwice.* all,tsan 1 40"
  "live.equipment                      Lent*:By/Lent* all,asan        1 20"
  "live.memcached_sessions  Operations/*:BothProtocols.*:Limits.*:LogIn.* quick,asan 1 20"
  "live.durable                        BrokerData.*:BrokerKills.*  all,asan  2 30"
  "live.faults  BrokerO*:BrokerRehash.*:WatchBroker.*:LockProcesses.AR*:Memcached*Faults.*:\
*ExtraConnections*:*MemcachedLocks.*Restart*:*/NamedNodes*:RedisCommandsLost.*:RedisChanges.*:\
RedisDiskFull.*:UnixSockets.*:RedisForeigners.*:RedisWithoutCluster.*:By/RedisRoles.*:\
OtherKinds.*                                                            all,asan,tsan 1 100"
  "live.canary                         *Canary.*      quick           1 20"
  "live.variants  *PageSpelling:*OverTls:*InResp2:*WithoutScripts       all,asan        1 60"
  "live.on_memcached  *Memcached*:*Fleet*:*LogIns*:*WrongProtocol*:Protocols*:MovingCache*:\
ServersChange*-*OverTls:*Canary.*:*Lent*:Memcached*Faults.*:*ExtraConnections*:\
*MemcachedLocks.*Restart*:UnixSockets.*:*Leaders.*                      quick,asan,tsan 1 120"
  "live.on_redis  Redis*:*/Redis:*/RedisServers:Credentials*:Rotation.A*:LoginRenewal*\
-*Canary.*:RedisCommandsLost.*:RedisChanges.*:RedisDiskFull.*:RedisForeigners.*:\
RedisWithoutCluster.*:*Leaders.*                                        quick,asan,tsan 1 120"
  "live.hour                           LiveHour.*     hour            1 700"
  "live.leaders                        *Leaders.*     hour            1 100"
  "live.others                         rest           quick,asan,tsan 1 120"
  "live_tls.rotations                  TlsRotation.*  all,tsan        1 40"
  "live_tls.certificates  All/RefusedServers.*/Mosquitto*:All/RefusedServers.*/Redis*:\
All/RefusedServers.*/MemcachedW*:All/RefusedServers.*/MemcachedM*:All/CertificateEnd.*:\
TlsCluster.*                                                            all,asan,tsan 1 20"
  "live_tls.others                     rest           quick,asan,tsan 1 30"
  "migration                           *              all,asan,tsan   1 200"
  "samples                             *              quick,asan      1 30"

  "readme.sample                       -              quick,asan,tsan 1 1"
  "cli.dev_brokers                     -              all,asan        1 60"
  "cli.dev_garnet                      -              all,asan        1 30"
  "cli.dev_redis                       -              all,asan        1 30"
  "cli.dev_valkey                      -              all             1 30"
  "cli.on_memcached                    -              quick,asan      1 70"
  "cli[.].*                            -              quick,asan      1 30"
  "samples..*                          -              quick,asan      1 5"
  "abi..*                              -              quick           1 1"
  "report_can_fail                     -              quick           1 1"
  "broker_symbols..*                   -              quick           1 1"
  "dependencies                        -              quick           1 2"
  "fresh_machines                      -              quick           1 10"
  "servers..*                          -              quick           1 1"
  "structure.tree                      -              quick           1 25"
  "structure.*_can_fail                -              quick           1 10"
  "structure.clang_format              -              quick           1 20"
  "structure.public_headers_compile_alone    -        all             1 100"
  "structure.internal_headers_compile_alone  -        hour            1 100"
  "consumer                            -              all             1 300"
  "consumer_with_each_source_alone     -              hour            1 300"
  "rebuild                             -              all             1 150"
  "packages                            -              all             1 100"
)

# Reads the fields of a line into `suite_NAME`.
macro(sheaf_read_suite line)
  separate_arguments(suite_fields UNIX_COMMAND "${line}")
  list(POP_FRONT suite_fields suite_what suite_tests suite_runs_in suite_shards suite_seconds
       suite_with)
  string(REPLACE "," ";" suite_runs_in "${suite_runs_in}")
  set(suite_program "${suite_what}")
  if(suite_what MATCHES "^([^.]+)[.](.+)$")
    set(suite_program "${CMAKE_MATCH_1}")
    set(suite_part "${CMAKE_MATCH_2}")
  endif()
  if(suite_tests STREQUAL "-")
    set(suite_program "")
  endif()
  if(suite_tests STREQUAL "kind")
    set(suite_tests "*/${suite_part}:*/${suite_part}_*")
  elseif(suite_tests STREQUAL "cluster")
    set(suite_tests "*/SharedCluster")
    string(REGEX MATCH "[a-z]+$" suite_software "${suite_part}")
    set(suite_with "SHEAF_TEST_CLUSTER=${suite_software}")
  endif()
  set(suite_is_here FALSE)
  if(SHEAF_SANITIZE STREQUAL "")
    if(suite_runs_in MATCHES "quick|all|hour")
      set(suite_is_here TRUE)
    endif()
  elseif(SHEAF_SANITIZE STREQUAL "address" AND "asan" IN_LIST suite_runs_in)
    set(suite_is_here TRUE)
  elseif(SHEAF_SANITIZE STREQUAL "thread" AND "tsan" IN_LIST suite_runs_in)
    set(suite_is_here TRUE)
  endif()
  set(suite_label all)
  if(suite_runs_in MATCHES "quick|hour")
    set(suite_label ${CMAKE_MATCH_0})
  endif()
endmacro()

# Targets that build what `tests/run.sh` runs, and what this build runs.
add_custom_target(sheaf_quick)
add_custom_target(sheaf_suites)

# sheaf_add_suites(PROGRAM): adds the tests of test_PROGRAM according to its lines.
function(sheaf_add_suites program)
  set(others)
  set(found)
  foreach(line IN LISTS SHEAF_SUITES)
    sheaf_read_suite("${line}")
    if(suite_program STREQUAL program)
      list(APPEND found "${line}")
      # The same tests run again on other software.
      if(NOT suite_tests STREQUAL "rest" AND NOT suite_with MATCHES "SHEAF_TEST_SOFTWARE")
        string(REGEX REPLACE "-.*" "" suite_tests "${suite_tests}")
        string(APPEND others ":${suite_tests}")
      endif()
    endif()
  endforeach()
  if(NOT found)
    set(found "${program} * all 1 10")
  endif()
  set_target_properties(test_${program} PROPERTIES EXCLUDE_FROM_ALL ON)
  foreach(line IN LISTS found)
    sheaf_read_suite("${line}")
    if(NOT suite_is_here)
      continue()
    endif()
    set_target_properties(test_${program} PROPERTIES EXCLUDE_FROM_ALL OFF)
    add_dependencies(sheaf_suites test_${program})
    if(suite_label STREQUAL "quick")
      add_dependencies(sheaf_quick test_${program})
    endif()
    if(suite_tests STREQUAL "rest")
      string(REGEX REPLACE "^:" "-" suite_tests "${others}")
    endif()
    math(EXPR last "${suite_shards} - 1")
    foreach(shard RANGE ${last})
      set(name ${suite_what})
      if(suite_shards GREATER 1)
        set(name ${suite_what}.${shard})
      endif()
      add_test(NAME ${name} COMMAND test_${program} --gtest_brief=1
                                    "--gtest_filter=${suite_tests}")
      set_tests_properties(${name} PROPERTIES TIMEOUT 900 COST ${suite_seconds}
        LABELS ${suite_label} SKIP_RETURN_CODE 77
        ENVIRONMENT "GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/results/${name}.xml;\
ASAN_SYMBOLIZER_PATH=${SHEAF_SYMBOLIZER};ASAN_OPTIONS=detect_stack_use_after_return=0;\
GTEST_TOTAL_SHARDS=${suite_shards};GTEST_SHARD_INDEX=${shard};${suite_with}")
    endforeach()
  endforeach()
endfunction()

# sheaf_label_tests(): labels the tests of this folder that are not test programs.
function(sheaf_label_tests)
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test IN LISTS tests)
    get_property(labels TEST ${test} PROPERTY LABELS)
    if(labels MATCHES "quick|all|lint|hour")
      continue()
    endif()
    set(label all)
    foreach(line IN LISTS SHEAF_SUITES)
      sheaf_read_suite("${line}")
      if(suite_tests STREQUAL "-" AND test MATCHES "^${suite_what}$")
        set(label ${suite_label})
        set_tests_properties(${test} PROPERTIES COST ${suite_seconds})
        if(NOT suite_is_here)
          set_tests_properties(${test} PROPERTIES DISABLED TRUE)
        endif()
        break()
      endif()
    endforeach()
    set_property(TEST ${test} APPEND PROPERTY LABELS ${label})
  endforeach()
endfunction()
