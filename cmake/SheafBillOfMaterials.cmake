# Lists the components of a build as SPDX 2.3: sheaf.spdx.json. The same build gives the same bytes:
# the time in it is SOURCE_DATE_EPOCH, or 2026-01-01.
set(sheaf_spdx_packages "")
set(sheaf_spdx_relationships "")

# sheaf_uses(NAME VERSION LICENCE KIND): KIND is an SPDX relationship.
function(sheaf_uses name version licence kind)
  string(APPEND sheaf_spdx_packages ",
    {
      \"SPDXID\": \"SPDXRef-${name}\",
      \"name\": \"${name}\",
      \"versionInfo\": \"${version}\",
      \"downloadLocation\": \"NOASSERTION\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"${licence}\",
      \"licenseDeclared\": \"${licence}\",
      \"copyrightText\": \"NOASSERTION\"
    }")
  string(APPEND sheaf_spdx_relationships ",
    {
      \"spdxElementId\": \"SPDXRef-sheaf\",
      \"relationshipType\": \"${kind}\",
      \"relatedSpdxElement\": \"SPDXRef-${name}\"
    }")
  set(sheaf_spdx_packages "${sheaf_spdx_packages}" PARENT_SCOPE)
  set(sheaf_spdx_relationships "${sheaf_spdx_relationships}" PARENT_SCOPE)
endfunction()

# xxHash, nlohmann/json and CLI11 are compiled in from their headers.
sheaf_uses(libuv "${SHEAF_UV_VERSION}" MIT DYNAMIC_LINK)
sheaf_uses(xxHash "${SHEAF_XXHASH_VERSION}" BSD-2-Clause STATIC_LINK)
sheaf_uses(nlohmann-json "${nlohmann_json_VERSION}" MIT STATIC_LINK)
if(SHEAF_TLS)
  sheaf_uses(OpenSSL "${OPENSSL_VERSION}" Apache-2.0 DYNAMIC_LINK)
endif()
if(SHEAF_DURABLE)
  sheaf_uses(SQLite "${SHEAF_SQLITE_VERSION}" blessing DYNAMIC_LINK)
endif()
if(SHEAF_CLI)
  sheaf_uses(CLI11 "${CLI11_VERSION}" BSD-3-Clause STATIC_LINK)
endif()
foreach(extra IN LISTS SHEAF_EXTRAS)
  sheaf_uses(sheaf-${extra} "${PROJECT_VERSION}" MIT CONTAINS)
endforeach()

set(SHEAF_SPDX_PACKAGES "${sheaf_spdx_packages}")
set(SHEAF_SPDX_RELATIONSHIPS "${sheaf_spdx_relationships}")
string(SHA1 SHEAF_SPDX_ID "${PROJECT_VERSION}${sheaf_spdx_packages}")
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  set(ENV{SOURCE_DATE_EPOCH} 1767225600)  # 2026-01-01
  string(TIMESTAMP SHEAF_SPDX_TIME "%Y-%m-%dT%H:%M:%SZ" UTC)
  unset(ENV{SOURCE_DATE_EPOCH})
else()
  string(TIMESTAMP SHEAF_SPDX_TIME "%Y-%m-%dT%H:%M:%SZ" UTC)
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/sheaf.spdx.json.in"
               "${PROJECT_BINARY_DIR}/sheaf.spdx.json" @ONLY)
