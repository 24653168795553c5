{
  "cps_version": "0.13.0",
  "name": "sheaf",
  "requires": { "nlohmann_json": { "version": "3.11" } },
  "components": {
    "json": {
      "type": "interface",
      "requires": [":sheaf", "nlohmann_json:nlohmann_json"],
      "compile_features": ["c++20"]
    }
  }
}
