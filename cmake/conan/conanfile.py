"""A recipe for Conan 2, used from this tree: conan create cmake/conan (docs/packages.md)."""

import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps


class SheafRecipe(ConanFile):
    name = "sheaf"
    version = "0.1.0"
    license = "MIT"
    description = "Client for key-value endpoints: MQTT 5 state stores, memcached, Redis clusters"
    topics = ("cache", "lock", "mqtt", "memcached", "redis")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "tls": [True, False], "durable": [True, False],
               "discovery": [True, False], "leader": [True, False],
               "migration": [True, False], "tools": [True, False]}
    default_options = {"shared": False, "tls": True, "durable": False, "discovery": False,
                       "leader": False, "migration": False, "tools": False}
    implements = ["auto_shared_fpic"]

    def export_sources(self):
        tree = os.path.join(self.recipe_folder, "..", "..")
        for folder in ("base", "cli", "client", "cluster", "cmake", "docs", "extras", "include",
                       "node", "protocol", "samples", "socket", "store"):
            copy(self, folder + "/*", tree, self.export_sources_folder)
        for file in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"):
            copy(self, file, tree, self.export_sources_folder)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("sheaf runs on Linux only")
        check_min_cppstd(self, 23)

    def requirements(self):
        self.requires("libuv/[>=1.44 <2]")
        self.requires("xxhash/[>=0.8 <1]")
        # sheaf/json.h includes it.
        self.requires("nlohmann_json/[>=3.11 <4]", transitive_headers=True)
        if self.options.tls:
            self.requires("openssl/[>=3 <4]")
        if self.options.durable:
            self.requires("sqlite3/[>=3.37 <4]")
        if self.options.tools:
            self.requires("cli11/[>=2.3 <3]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")
        self.tool_requires("pkgconf/[>=2]")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            "SHEAF_TLS": bool(self.options.tls), "SHEAF_DURABLE": bool(self.options.durable),
            "SHEAF_DISCOVERY": bool(self.options.discovery),
            "SHEAF_LEADER": bool(self.options.leader),
            "SHEAF_MIGRATION": bool(self.options.migration),
            "SHEAF_CLI": bool(self.options.tools), "SHEAF_PLUGIN": False, "SHEAF_TESTS": False,
            "SHEAF_SAMPLES": False})
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "sheaf")
        self.cpp_info.components["sheaf"].set_property("cmake_target_name", "sheaf::sheaf")
        self.cpp_info.components["sheaf"].libs = ["sheaf"]
        self.cpp_info.components["sheaf"].system_libs = ["pthread"]
        self.cpp_info.components["sheaf"].requires = ["libuv::libuv", "xxhash::xxhash"]
        if self.options.tls:
            self.cpp_info.components["sheaf"].requires.append("openssl::ssl")
        if self.options.durable:
            self.cpp_info.components["sheaf"].requires.append("sqlite3::sqlite3")
        self.cpp_info.components["json"].set_property("cmake_target_name", "sheaf::json")
        self.cpp_info.components["json"].requires = ["sheaf", "nlohmann_json::nlohmann_json"]
        for extra in ("discovery", "leader", "migration"):
            if getattr(self.options, extra):
                component = self.cpp_info.components[extra]
                component.set_property("cmake_target_name", "sheaf::" + extra)
                component.libs = ["sheaf-" + extra]
                component.requires = ["sheaf"]
