"""Makes the Debian packages of a build, installs them below a folder, and uses them as a stranger
would: with pkg-config, with CMake, from a shell, and in a broker.

    test_packages.py SOURCE BUILD COMPILER
"""

import glob
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import unittest

source, build, compiler = sys.argv[1:4]
work = os.path.join(build, "packages")
root = os.path.join(work, "root")
usr = os.path.join(root, "usr")
PACKAGES = ["libsheaf-dev", "libsheaf-discovery-dev", "libsheaf-discovery0",
            "libsheaf-leader-dev", "libsheaf-leader0", "libsheaf-migration-dev",
            "libsheaf-migration0", "libsheaf0",
            "mosquitto-sheaf", "sheaf-doc", "sheaf-tools"]
EXTRAS = ["discovery", "leader", "migration"]  # libraries of their own
SECONDS = 900
EPOCH = "1767225600"  # 2026-01-01


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False,
                          stdin=subprocess.DEVNULL, **more)
    if done.returncode != 0:
        raise AssertionError("%s: %d\n%s%s" % (" ".join(words), done.returncode,
                                               done.stdout[-4000:], done.stderr[-4000:]))
    return done.stdout


def field(package, name):
    return run("dpkg-deb", "--field", package, name).strip()


def make_packages(folder):
    """Returns the packages' paths. The umask is that of a user whose files no one else may read."""
    os.makedirs(folder, exist_ok=True)
    for package in glob.glob(os.path.join(folder, "*.deb")):
        os.remove(package)
    run("cpack", "-G", "DEB", "--config", os.path.join(build, "CPackConfig.cmake"), "-B", folder,
        cwd=build, env=dict(os.environ, SOURCE_DATE_EPOCH=EPOCH), umask=0o077)
    return sorted(glob.glob(os.path.join(folder, "*.deb")))


def content(path):
    with open(path, "rb") as file:
        return file.read()


def marks_of_the_build(path):
    """Traces in a file of the place, time and machine of its build. A machine name that is also a
    word of the program is ignored."""
    found = content(path)
    marks = [build.encode(), source.encode() + b"/base/", source.encode() + b"/include"]
    if found.startswith(b"\x7fELF"):
        built = time.localtime(os.path.getmtime(os.path.join(build, "libsheaf.so")))
        marks += [time.strftime(form, built).encode() for form in ("%b %e %Y", "%Y-%m-%d")]
        host = socket.gethostname().encode()
        if len(host) >= 8 and host != b"localhost":
            marks.append(host)
    return [mark.decode() for mark in marks if mark in found]


def setUpModule():
    shutil.rmtree(root, ignore_errors=True)
    packages = make_packages(work)
    os.makedirs(os.path.join(root, "var/lib/dpkg/info"))
    os.makedirs(os.path.join(root, "var/lib/dpkg/updates"))
    open(os.path.join(root, "var/lib/dpkg/status"), "w", encoding="utf-8").close()
    # The packages that they depend on are installed on the machine itself.
    run("dpkg", "--root=" + root, "--log=/dev/null", "--force-not-root", "--force-depends",
        "--force-script-chrootless", "--install", *packages,
        env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))


def libdir():
    return os.path.dirname(glob.glob(os.path.join(usr, "lib/**/libsheaf.so"), recursive=True)[0])


def with_libraries():
    return dict(os.environ, LD_LIBRARY_PATH=libdir(),
                PKG_CONFIG_PATH=os.path.join(libdir(), "pkgconfig"))


class Packages(unittest.TestCase):
    def test_there_is_one_for_each_component(self):
        packages = glob.glob(os.path.join(work, "*.deb"))
        self.assertEqual(sorted(field(p, "Package") for p in packages), PACKAGES)
        for package in packages:
            with self.subTest(package=os.path.basename(package)):
                name = field(package, "Package")
                self.assertTrue(os.path.exists(os.path.join(usr, "share/doc", name, "copyright")))

    def test_apt_finds_all_that_they_depend_on(self):
        run("apt-get", "install", "--simulate", "--no-install-recommends",
            *glob.glob(os.path.join(work, "*.deb")))

    def test_a_program_that_is_linked_depends_on_exactly_this_version(self):
        with open(os.path.join(root, "var/lib/dpkg/info/libsheaf0.shlibs"), encoding="utf-8") as f:
            self.assertRegex(f.read(), r"libsheaf 0\.1 libsheaf0 \(= 0\.1\.0\)")
        for name in EXTRAS:
            info = os.path.join(root, "var/lib/dpkg/info/libsheaf-%s0.shlibs" % name)
            with open(info, encoding="utf-8") as f:
                self.assertRegex(f.read(), r"libsheaf-%s 0\.1 libsheaf-%s0 \(= 0\.1\.0\)" % (
                    name, name))
        with open(os.path.join(root, "var/lib/dpkg/status"), encoding="utf-8") as f:
            self.assertIn("libsheaf0 (= 0.1.0)", f.read())

    def test_the_program_runs_and_finds_the_plugin(self):
        sheaf = os.path.join(usr, "bin/sheaf")
        self.assertEqual(run(sheaf, "--version"), "sheaf 0.1.0\n")
        broker = subprocess.Popen([sheaf, "dev", "--brokers", "1"], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        try:
            uri = broker.stdout.readline().strip()
            self.assertTrue(uri, "dev did not start")
            run(sheaf, "--servers", uri, "set", "key", "value")
            self.assertEqual(run(sheaf, "--servers", uri, "get", "key"), "value")
        finally:
            broker.terminate()
            broker.communicate(timeout=60)

    def test_the_program_has_a_manual_page_and_completions(self):
        for file in ["share/man/man1/sheaf.1", "share/bash-completion/completions/sheaf",
                     "share/zsh/vendor-completions/_sheaf",
                     "share/fish/vendor_completions.d/sheaf.fish"]:
            path = os.path.join(usr, file)
            self.assertGreater(os.path.getsize(path), 2000, path)

    def test_the_plugin_is_where_the_pages_say(self):
        here = os.path.join(libdir(), "sheaf/libsheaf_statestore.so")
        self.assertTrue(os.path.exists(here))
        with open(os.path.join(source, "docs/wire/mosquitto.md"), encoding="utf-8") as page:
            self.assertIn(here.removeprefix(root), page.read().replace(
                "x86_64-linux-gnu", os.path.basename(libdir())))

    def test_all_recipes_have_the_version(self):
        with open(os.path.join(source, "cmake/vcpkg/vcpkg.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["version"], "0.1.0")
        with open(os.path.join(source, "cmake/conan/conanfile.py"), encoding="utf-8") as file:
            recipe = file.read()
        compile(recipe, "conanfile.py", "exec")
        self.assertIn('version = "0.1.0"', recipe)

    def test_pages_and_samples_are_there(self):
        doc = os.path.join(usr, "share/doc/sheaf")
        for file in ["README.md", "LICENSE", "CHANGELOG.md", "docs/cli.md",
                     "samples/quickstart.cpp", "samples/mosquitto/mosquitto.conf",
                     "samples/deploy/compose.yaml"]:
            self.assertTrue(glob.glob(os.path.join(doc, file) + "*"), file)
        self.assertTrue(os.path.exists(os.path.join(
            usr, "share/doc/mosquitto-sheaf/examples/sheaf-store.conf")))
        for file in ["docs/progress.md", "docs/Doxyfile", "docs/doxygen_filter.py"]:
            self.assertFalse(os.path.exists(os.path.join(doc, file)), file)

    def test_what_it_is_made_of_is_valid_spdx(self):
        with open(os.path.join(usr, "share/doc/sheaf/sheaf.spdx.json"), encoding="utf-8") as file:
            bill = json.load(file)
        self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
        packages = {package["name"]: package for package in bill["packages"]}
        self.assertEqual(set(packages), {"sheaf", "libuv", "xxHash", "nlohmann-json", "OpenSSL",
                                         "SQLite", "CLI11", "sheaf-migration",
                                         "sheaf-leader", "sheaf-discovery"})
        ids = {package["SPDXID"] for package in bill["packages"]} | {"SPDXRef-DOCUMENT"}
        for package in packages.values():
            self.assertRegex(package["versionInfo"], r"^\d+(\.\d+)+")
            self.assertNotIn(package["licenseDeclared"], ("", "NOASSERTION"))
        for relation in bill["relationships"]:
            self.assertIn(relation["spdxElementId"], ids)
            self.assertIn(relation["relatedSpdxElement"], ids)

    def test_the_common_package_specification_names_what_is_there(self):
        with open(os.path.join(libdir(), "cps/sheaf/sheaf.cps"), encoding="utf-8") as file:
            package = json.load(file)
        self.assertEqual(os.path.normpath(package["cps_path"].replace("@prefix@", usr)),
                         os.path.join(libdir(), "cps/sheaf"))
        component = package["components"]["sheaf"]
        self.assertEqual(component["type"], "dylib")
        for path in [component["location"], *component["includes"]]:
            self.assertTrue(os.path.exists(path.replace("@prefix@", usr)), path)
        # CMake 4.3 takes the package from here, and looks for the component only here.
        with open(os.path.join(libdir(), "cps/sheaf/sheaf-json.cps"), encoding="utf-8") as file:
            appendix = json.load(file)
        self.assertEqual(appendix["name"], package["name"])
        self.assertIn("nlohmann_json", appendix["requires"])
        self.assertIn(":sheaf", appendix["components"]["json"]["requires"])
        for name in EXTRAS:
            with open(os.path.join(libdir(), "cps/sheaf/sheaf-%s.cps" % name),
                      encoding="utf-8") as file:
                extra = json.load(file)["components"][name]
            self.assertEqual(extra["requires"], [":sheaf"])
            for path in [extra["location"], *extra["includes"]]:
                self.assertTrue(os.path.exists(path.replace("@prefix@", usr)), path)

    def test_a_library_exports_what_is_public_and_nothing_else(self):
        exported = {}
        for name, least in (("libsheaf.so", 100), ("libsheaf-migration.so", 20),
                            ("libsheaf-discovery.so", 10), ("libsheaf-leader.so", 10)):
            symbols = run("nm", "-D", "--defined-only", "-C", os.path.join(libdir(), name))
            ours = [line.split(" ", 2)[2] for line in symbols.splitlines() if "sheaf::" in line]
            self.assertGreater(len(ours), least)
            self.assertEqual([line for line in ours if "sheaf::v0::" not in line], [])
            exported[name] = {line for line in ours if line.startswith("sheaf::")}
        for name in EXTRAS:
            both = exported["libsheaf.so"] & exported["libsheaf-%s.so" % name]
            self.assertEqual(both, set(), "what a library has a copy of must be hidden in it")

    def test_nothing_says_where_when_and_by_whom_it_was_built(self):
        looked_at = 0
        for folder, _, names in os.walk(usr):
            for path in (os.path.join(folder, name) for name in names):
                self.assertEqual(marks_of_the_build(path), [], path)
                looked_at += 1
        self.assertGreater(looked_at, 100)
        planted = os.path.join(work, "planted")
        with open(planted, "wb") as file:
            file.write(content(os.path.join(usr, "bin/sheaf")) + build.encode())
        self.assertEqual(marks_of_the_build(planted), [build])

    def test_two_runs_give_the_same_bytes_in_any_folder(self):
        again = make_packages(os.path.join(build, "packages_again"))
        self.assertEqual(len(again), len(PACKAGES))
        for package in again:
            name = os.path.basename(package)
            self.assertTrue(content(package) == content(os.path.join(work, name)), name)

    def test_all_that_is_in_them_has_one_time_and_everybody_may_read_it(self):
        for package in glob.glob(os.path.join(work, "*.deb")):
            for line in run("dpkg-deb", "--contents", package,
                            env=dict(os.environ, TZ="UTC")).splitlines():
                self.assertRegex(line, r"^(drwxr-xr-x|-rw.r-.r-.|l.{9}) root/root .* "
                                       r"2026-01-01 00:00 ", package)


class Users(unittest.TestCase):
    """Each test compiles the same program against the installed files in a different way."""

    def compile(self, text, *flags, packages="sheaf"):
        program = os.path.join(work, "program")
        file = program + ".cpp"
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        found = run("pkg-config", "--cflags", "--libs", *packages.split(),
                    env=with_libraries()).split()
        run(compiler, "-Wall", "-Wextra", "-Werror", file, "-o", program, *flags, *found)
        return run(program, env=with_libraries())

    PROGRAM = """
        #include <sheaf/client.h>
        #include <cstdio>
        int main() {
          auto client = sheaf::Client::open("embedded://2");
          client.value().set("key", "value").value();
          std::puts(client->get("key").value().value().data.c_str());
        }
        """

    def test_of_pkg_config_needs_no_other_flag(self):
        self.assertEqual(self.compile(self.PROGRAM, "-std=c++20"), "value\n")

    def test_of_typed_values_asks_for_sheaf_json(self):
        with open(os.path.join(source, "tests/consumer/consumer.cpp"), encoding="utf-8") as file:
            self.compile(file.read(), "-std=c++20", packages="sheaf-json")

    def test_of_libraries_on_it_asks_for_their_names(self):
        with open(os.path.join(source, "tests/consumer/extras.cpp"), encoding="utf-8") as file:
            text = file.read()
        said = self.compile(text, "-std=c++20",
                            packages="sheaf-migration sheaf-discovery sheaf-leader")
        self.assertIn("a server of both fleets", said)
        self.assertIn("the name of the SRV records", said)
        self.assertIn("the lease is", said)

    def test_without_exceptions_compiles_and_ends_with_the_reason(self):
        self.assertEqual(self.compile(self.PROGRAM, "-std=c++20", "-fno-exceptions"), "value\n")
        with self.assertRaisesRegex(AssertionError, "the key is empty"):
            self.compile(self.PROGRAM.replace('set("key"', 'set(""'), "-std=c++20",
                         "-fno-exceptions")

    def test_of_an_older_standard_gets_one_sentence(self):
        with self.assertRaises(AssertionError) as caught:
            self.compile(self.PROGRAM, "-std=c++17")
        self.assertIn("sheaf needs C++20 or later", str(caught.exception))
        self.assertLess(str(caught.exception).count("error:"), 3)

    def test_of_cmake_finds_the_package(self):
        folder = os.path.join(work, "found")
        shutil.rmtree(folder, ignore_errors=True)
        run("cmake", "-S", os.path.join(source, "tests/consumer"), "-B", folder, "-G", "Ninja",
            "-DCMAKE_CXX_COMPILER=" + compiler, "-DCMAKE_PREFIX_PATH=" + usr,
            "-DCONSUMER_EXTRAS=ON")
        run("cmake", "--build", folder)
        programs = glob.glob(os.path.join(folder, "consumer_[0-9][0-9]"))
        programs += glob.glob(os.path.join(folder, "consumer_extras"))
        self.assertGreaterEqual(len(programs), 3)
        for program in programs:
            run(program, env=with_libraries())


class Readers(unittest.TestCase):
    """The commands that a reader of the pages types and runs."""

    def test_the_programs_of_the_guide_compile_and_run_on_brokers(self):
        with open(os.path.join(source, "docs/guide.md"), encoding="utf-8") as file:
            programs = re.findall(r"```cpp\n(.*?)```", file.read(), re.DOTALL)
        wanted = ["computing\nprice 12.50\nprice 12.50\nprice 12.50\n",
                  "500 written, 500 found\n", "count is 1\n",
                  "does cut\ndoes drill\ndoes paint\n",
                  "current -\nset 20\nset 21\nset 22\n"]
        self.assertEqual(len(programs), len(wanted))
        found = run("pkg-config", "--cflags", "--libs", "sheaf", env=with_libraries()).split()
        for number, (text, output) in enumerate(zip(programs, wanted)):
            with self.subTest(program=number):
                program = os.path.join(work, "guide%d" % number)
                with open(program + ".cpp", "w", encoding="utf-8") as out:
                    out.write(text)
                run(compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", program + ".cpp", "-o",
                    program, *found)
                self.assertEqual(run(os.path.join(usr, "bin/sheaf"), "dev", "--brokers", "3", "--",
                                     program, env=with_libraries()), output)

    def test_the_readme_names_every_package_that_a_build_needs(self):
        with open(os.path.join(source, "README.md"), encoding="utf-8") as file:
            line = re.search(r"^apt install (g\+\+(?:.*\\\n)*.*?)  #", file.read(), re.MULTILINE)
        needed = run("bash", "-c", '. "$0/cmake/deps.sh"; echo "${SHEAF_CORE_PACKAGES[@]}" '
                     '"${SHEAF_BROKER_PACKAGES[@]}" "${SHEAF_DURABLE_PACKAGES[@]}" '
                     '"${SHEAF_CLI_PACKAGES[@]}" "${SHEAF_TLS_PACKAGES[@]}" dpkg-dev file', source)
        self.assertEqual(sorted(line.group(1).replace("\\", " ").split()),
                         sorted(set(needed.split()) - {"mosquitto"}))

    def test_the_samples_build_alone(self):
        folder = os.path.join(work, "samples")
        shutil.rmtree(folder, ignore_errors=True)
        run("cmake", "-S", os.path.join(usr, "share/doc/sheaf/samples"), "-B", folder, "-G",
            "Ninja", "-DCMAKE_CXX_COMPILER=" + compiler, "-DCMAKE_PREFIX_PATH=" + usr)
        run("cmake", "--build", folder)
        self.assertIn("served 8, computed 1", run(os.path.join(folder, "get_or_compute"),
                                                  env=with_libraries()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
