// make_credentials FOLDER NAME=DAYS[:PASSPHRASE]...: makes an authority, ca.pem, and for each name
// a certificate for 127.0.0.1 and localhost, signed by the authority and valid for DAYS days and an
// hour, with its key, encrypted if there is a passphrase: NAME.pem and NAME.key. For tests in
// Python.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/tls/credentials.h"

int main(int count, char** words) {
  using namespace sheaf::test;
  if (count < 3) {
    std::fputs("usage: make_credentials FOLDER NAME=DAYS[:PASSPHRASE]...\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = words[1];
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  const Identity authority = make_authority_now("authority of the tests");
  write("ca.pem", authority.certificate_pem());
  for (int i = 2; i < count; ++i) {
    const std::string word = words[i];
    const std::string name = word.substr(0, word.find('='));
    CertificateTerms terms = valid_now(name);
    terms.ends = std::time(nullptr) + std::atoi(word.c_str() + name.size() + 1) * day + 3600;
    const Identity made = make_identity(terms, &authority);
    write(name + ".pem", made.certificate_pem());
    const std::size_t colon = word.find(':');
    write(name + ".key", made.key_pem(colon == word.npos ? "" : word.substr(colon + 1)));
  }
  return 0;
}
