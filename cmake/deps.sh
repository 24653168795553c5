# shellcheck shell=bash
# Installs missing Debian packages. It must be sourced, and works from any folder without a
# terminal.

# The packages that every build needs, and those of its parts.
SHEAF_CORE_PACKAGES=(g++ cmake ninja-build pkg-config libuv1-dev libxxhash-dev nlohmann-json3-dev)
SHEAF_BROKER_PACKAGES=(mosquitto mosquitto-dev libmosquitto-dev)
SHEAF_DURABLE_PACKAGES=(libsqlite3-dev)
SHEAF_CLI_PACKAGES=(libcli11-dev)
SHEAF_TLS_PACKAGES=(libssl-dev)
SHEAF_TEST_PACKAGES=(libgtest-dev libgmock-dev mosquitto-clients python3 clang-19 clang-format-19
                     clang-tidy-19 libclang-rt-19-dev llvm-19 libasio-dev libmemcached-dev
                     memcached sasl2-bin libsasl2-modules redis-server libhiredis-dev openssl
                     dpkg-dev file python3-prometheus-client doxygen python3-yaml
                     valgrind)

# Differences between releases. Debian 12 and Ubuntu 22.04 have no Valkey.
sheaf_release=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-}")
case $sheaf_release in
  bookworm | jammy) ;;
  *) SHEAF_TEST_PACKAGES+=(valkey-server) ;;
esac

# sheaf_name PACKAGE: the package's name in this release. If the release has no clang 19, that is
# the newest clang that apt knows. Other versions format and lint differently, so clang-format and
# clang-tidy are then left out.
sheaf_name() {
  local package=$1 like newest
  case $package in
    *-19 | *-19-dev) ;;
    *) echo "$package"; return ;;
  esac
  like=^${package/-19/-[0-9]+}\$
  newest=$(apt-cache pkgnames "${package%%-19*}-" | sort -V |
    awk -v name="$package" -v like="$like" '
      $0 == name { same = 1 }
      $0 ~ like { last = $0 }
      END { print same || last == "" ? name : last }')
  case $newest in
    "$package") echo "$package" ;;
    clang-format-* | clang-tidy-*) ;;
    *) echo "$newest" ;;
  esac
}

# sheaf_missing PACKAGE...: the names of those packages that are not installed.
sheaf_missing() {
  local package name
  for package in "$@"; do
    sheaf_is_installed "$package" && continue
    name=$(sheaf_name "$package")
    [ -z "$name" ] || sheaf_is_installed "$name" || echo "$name"
  done
}

sheaf_is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Runs a command as root.
sheaf_as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

sheaf_apt() {
  sheaf_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" \
    </dev/null
}

# Server packages start their servers at once. A policy-rc.d (invoke-rc.d(8)) forbids that for this
# one call. An existing policy is left unchanged.
sheaf_apt_install() (
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'sheaf_as_root rm -f "$policy"' EXIT
    trap 'exit 130' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' | sheaf_as_root tee "$policy" >/dev/null || exit
    sheaf_as_root chmod 755 "$policy" || exit
  fi
  sheaf_apt install -y --no-install-recommends "$@"
)

# sheaf_install PACKAGE...: installs the missing packages, or fails with one sentence. Without apt,
# the installed packages must suffice.
sheaf_install() {
  local missing output
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "No apt-get here; please install what Debian calls: $*" >&2
    return 0
  fi
  mapfile -t missing < <(sheaf_missing "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    echo "Please install as root: apt-get install ${missing[*]}" >&2
    return 1
  fi
  echo "Installing ${missing[*]} ..." >&2
  # If apt knows the packages and its lists are current, no update is needed.
  if apt-cache show "${missing[@]}" >/dev/null 2>&1 &&
     sheaf_apt_install "${missing[@]}" >/dev/null 2>&1; then
    return 0
  fi
  if output=$(sheaf_apt update 2>&1); then
    mapfile -t missing < <(sheaf_missing "$@")
    output=$(sheaf_apt_install "${missing[@]}" 2>&1) && return 0
  fi
  echo "$output" >&2
  echo "Could not install: ${missing[*]}" >&2
  return 1
}

# The Garnet version that the tests were written for.
SHEAF_GARNET_VERSION=2.2.8

# sheaf_install_garnet FOLDER: installs garnet-server there with the .NET SDK, unless one is in PATH
# or named by GARNET_SERVER, and sets GARNET_SERVER. If that is impossible, it says so in one
# sentence, and the tests of Garnet are skipped.
sheaf_install_garnet() {
  local folder=$1
  [ -z "${GARNET_SERVER:-}" ] && ! command -v garnet-server >/dev/null || return 0
  if [ ! -x "$folder/garnet-server" ]; then
    if ! command -v dotnet >/dev/null; then
      echo "No .NET SDK here to install Garnet with: its tests will be skipped." >&2
      return 0
    fi
    if ! DOTNET_NOLOGO=1 DOTNET_CLI_TELEMETRY_OPTOUT=1 timeout 300 dotnet tool install \
      garnet-server --version "$SHEAF_GARNET_VERSION" --tool-path "$folder" >/dev/null 2>&1; then
      echo "Garnet could not be installed with dotnet: its tests will be skipped." >&2
      return 0
    fi
  fi
  export GARNET_SERVER=$folder/garnet-server
}
