"""The files of samples/azure: they have the form that Kubernetes and the broker want, name the same
things, and their environment is one that sheaf understands.

    azure_test.py SOURCE VERSION SHEAF MAKE_CREDENTIALS
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:  # a Python other than Debian's finds Debian's packages there
    sys.path.append("/usr/lib/python3/dist-packages")
    import yaml

source, version, sheaf, make_credentials = sys.argv[1:5]

NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
PRINCIPALS = {"attributes", "clientIds", "usernames"}
BROKER_METHODS = {"Connect", "Publish", "Subscribe"}
STORE_METHODS = {"Read", "Write", "ReadWrite"}
KEY_TYPES = {"Pattern", "String", "Binary"}


def shipped(name):
    with open(os.path.join(source, "samples/azure", name), encoding="utf-8") as file:
        return file.read()


def objects(name):
    return {each["kind"]: each for each in yaml.safe_load_all(shipped(name))}


def pod():
    return objects("client.yaml")["Deployment"]["spec"]["template"]["spec"]


def container():
    (only,) = pod()["containers"]
    return only


def environment():
    return {each["name"]: each["value"] for each in container()["env"]}


def rules():
    policies = objects("authorization.yaml")["BrokerAuthorization"]["spec"]["authorizationPolicies"]
    return policies["rules"]


class Files(unittest.TestCase):
    def test_all_objects_are_in_the_namespace_of_the_broker(self):
        for name in ("client.yaml", "authorization.yaml"):
            for each in objects(name).values():
                self.assertEqual(each["metadata"]["namespace"], "azure-iot-operations")
                self.assertTrue(NAME.fullmatch(each["metadata"]["name"]))

    def test_the_pod_selects_itself_and_uses_its_account(self):
        deployment = objects("client.yaml")["Deployment"]["spec"]
        self.assertEqual(deployment["selector"]["matchLabels"],
                         deployment["template"]["metadata"]["labels"])
        self.assertEqual(pod()["serviceAccountName"],
                         objects("client.yaml")["ServiceAccount"]["metadata"]["name"])

    def test_every_file_of_the_environment_is_in_a_folder_that_is_mounted(self):
        mounts = {each["mountPath"]: each for each in container()["volumeMounts"]}
        volumes = {each["name"]: each for each in pod()["volumes"]}
        for name, value in environment().items():
            if not name.endswith("_FILE"):
                continue
            mount = mounts[os.path.dirname(value)]
            self.assertTrue(mount["readOnly"])
            self.assertNotIn("subPath", mount, "such a file would never change")
            self.assertIn(mount["name"], volumes)
        (token,) = volumes["token"]["projected"]["sources"]
        self.assertEqual(token["serviceAccountToken"]["path"],
                         os.path.basename(environment()["AIO_SAT_FILE"]))
        self.assertEqual(token["serviceAccountToken"]["audience"], "aio-internal")

    def test_sheaf_understands_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([make_credentials, folder, "broker=1"], check=True)
            variables = dict(environment(), AIO_TLS_CA_FILE=os.path.join(folder, "ca.pem"),
                             AIO_SAT_FILE=os.path.join(folder, "broker-sat"))
            with open(variables["AIO_SAT_FILE"], "w", encoding="utf-8") as token:
                token.write("header.claims.signature")
            run = subprocess.run([sheaf, "ring", "--json"], env=variables, timeout=60,
                                 capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(json.loads(run.stdout)["node"], "aio-broker:18883")

    def test_a_variable_that_is_wrong_is_named(self):
        variables = dict(environment(), AIO_BROKER_TCP_PORT="many")
        run = subprocess.run([sheaf, "ring"], env=variables, timeout=60, capture_output=True,
                             text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("AIO_BROKER_TCP_PORT", run.stderr)

    def test_rules_have_the_form_that_the_broker_wants(self):
        for rule in rules():
            self.assertLessEqual(set(rule),
                                 {"principals", "brokerResources", "stateStoreResources"})
            self.assertLessEqual(set(rule["principals"]), PRINCIPALS)
            for each in rule["brokerResources"]:
                self.assertIn(each["method"], BROKER_METHODS)
                self.assertEqual("topics" in each, each["method"] != "Connect")
            for each in rule["stateStoreResources"]:
                self.assertEqual(set(each), {"method", "keyType", "keys"})
                self.assertIn(each["method"], STORE_METHODS)
                self.assertIn(each["keyType"], KEY_TYPES)
                self.assertTrue(all(isinstance(key, str) for key in each["keys"]))

    def test_the_rules_name_the_attribute_of_the_account(self):
        (rule,) = rules()
        (attribute,) = rule["principals"]["attributes"]
        annotations = objects("client.yaml")["ServiceAccount"]["metadata"]["annotations"]
        self.assertEqual(annotations, {"aio-broker-auth/" + name: value
                                       for name, value in attribute.items()})

    def test_the_plugin_gets_rights_to_the_same_keys(self):
        (user,) = json.loads(shipped("rights.json"))["users"].values()
        wanted = {key for rule in rules() for each in rule["stateStoreResources"]
                  for key in each["keys"]}
        # Every client may read the key of the probe, whatever the plugin's file says.
        self.assertEqual(set(user["keys"]), wanted - {"sheaf/probe"})

    def test_the_pod_may_do_nothing_but_run(self):
        self.assertFalse(pod()["automountServiceAccountToken"])
        self.assertTrue(pod()["securityContext"]["runAsNonRoot"])
        self.assertEqual(container()["securityContext"], {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]}})

    def test_the_image_has_the_version_and_the_user_of_the_pod(self):
        self.assertTrue(container()["image"].endswith(":" + version))
        self.assertIn("press7:" + version + " ", shipped("Dockerfile"))
        user = pod()["securityContext"]
        self.assertIn("USER %d:%d" % (user["runAsUser"], user["runAsGroup"]),
                      shipped("Dockerfile"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
