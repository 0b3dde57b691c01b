import Testing
import TocsinServer

@Suite("Reading settings")
struct SettingsReaderTests {
    @Test("without anything the defaults hold")
    func defaults() throws {
        let reading = try read()
        #expect(reading.settings == Settings())
        #expect(reading.warnings.isEmpty)
        #expect(reading.origins.allSatisfy { $0.origin == "default" })
        #expect(reading.settings.server.databaseAddress == .sqlite(path: "./tocsin-data/tocsin.db"))
    }

    @Test("a flag wins over the environment, that over the file, that over the default")
    func precedence() throws {
        let files = TestFiles.make(["t.toml": "port = 3\nhost = \"filehost\"\nnode = \"filenode\""])
        let reading = try read(
            flags: ["port": "1", "config": "t.toml"],
            ["TOCSIN_PORT": "2", "TOCSIN_HOST": "varhost"],
            files: files
        )
        #expect(reading.settings.server.port == 1)
        #expect(reading.settings.server.host == "varhost")
        #expect(reading.settings.server.node == "filenode")
        let origins = Dictionary(uniqueKeysWithValues: reading.origins.map { ($0.key, $0.origin) })
        #expect(origins["port"] == "--port")
        #expect(origins["host"] == "TOCSIN_HOST")
        #expect(origins["node"] == "t.toml: node")
        #expect(origins["data-dir"] == "default")
    }

    @Test("an empty value counts as not given", arguments: ["", " ", "\n"])
    func empty(value: String) throws {
        #expect(try read(["TOCSIN_PORT": value, "APNS_KEY_ID": value]).settings == Settings())
    }

    @Test(
        "every setting reads its own default back, in each way to give it",
        arguments: SettingTable.all.filter { $0.defaultText != nil }.map(\.key)
    )
    func defaultsRoundTrip(key: String) throws {
        let definition = try #require(SettingTable.all.first { $0.key == key })
        let text = try #require(definition.defaultText)
        #expect(try read(flags: [key: text]).settings == Settings())
        #expect(try read([definition.variable: text]).settings == Settings())
        let files = TestFiles.make(["s.json": "{\"\(key)\": \"\(text)\"}"])
        #expect(try read(["TOCSIN_CONFIG": "s.json"], files: files).settings == Settings())
    }

    @Test("trusted documents need a folder to be used, and a mode to have an effect")
    func trust() throws {
        for mode in ["allow", "only"] {
            let found = problems(["TOCSIN_TRUSTED_MODE": mode])
            #expect(found.count == 1 && found[0].contains("TOCSIN_TRUSTED_DOCUMENTS"), "\(found)")
            let reading = try read(["TOCSIN_TRUSTED_MODE": mode, "TOCSIN_TRUSTED_DOCUMENTS": "documents"])
            #expect(reading.settings.server.trustedMode == mode && reading.warnings.isEmpty)
        }
        let reading = try read(flags: ["trusted-documents": "documents"])
        #expect(reading.warnings.count == 1 && reading.warnings[0].contains("TOCSIN_TRUSTED_MODE"))
        #expect(problems(["TOCSIN_TRUSTED_MODE": "some"])[0].contains("off, allow, only"))
    }

    @Test("names are unique, and each setting says what it is for")
    func table() {
        let names = SettingTable.all.flatMap { [$0.variable] + $0.aliases.map(\.variable) + $0.fileVariables }
        #expect(Set(names).count == names.count)
        #expect(Set(SettingTable.all.map(\.key)).count == SettingTable.all.count)
        for definition in SettingTable.all { #expect(definition.help.hasSuffix("."), "\(definition.key)") }
    }

    @Test("names promised to users are there", arguments: promisedVariables)
    func promises(variable: String) {
        let names = SettingTable.all.flatMap { [$0.variable] + $0.aliases.map(\.variable) + $0.fileVariables }
        #expect(names.contains(variable))
    }

    @Test(
        "TOML and JSON say the same",
        arguments: [
            (
                "a.toml",
                "port = 9\nallowed_origins = [\"https://a\", \"https://b\"]\nmigrate = false\n[push]\nlease-seconds = 90.5\n"
            ),
            (
                "a.json",
                #"{"port": 9, "allowed-origins": "https://a, https://b", "migrate": false, "push": {"lease_seconds": 90.5}}"#
            ),
            (
                "a.conf",
                "\n {\"port\": \"9\", \"allowed-origins\": [\"https://a\",\"https://b\"], \"migrate\": \"no\", \"push-lease-seconds\": 90.5}"
            ),
        ]
    )
    func formats(path: String, text: String) throws {
        let settings = try read(flags: ["config": path], files: TestFiles.make([path: text])).settings
        #expect(settings.server.port == 9)
        #expect(settings.server.allowedOrigins == ["https://a", "https://b"])
        #expect(!settings.server.migrates)
        #expect(settings.push.leaseSeconds == 90.5)
    }

    @Test(
        "a file that cannot be read says why",
        arguments: [
            ("gone.toml", nil, "no such file"), ("a.toml", "port = ", "not TOML"), ("a.json", "{", "not JSON"),
            ("a.json", "[1]", "names and values"), ("a.json", #"{"port": null}"#, "port must be"),
            ("a.json", #"{"a-b": 1, "a": {"b": 2}}"#, "twice"), ("a.toml", "port = 1\nport = 2", "not TOML"),
        ] as [(String, String?, String)]
    )
    func badFiles(path: String, text: String?, word: String) {
        let files = TestFiles.make(text.map { [path: $0] } ?? [:])
        let found = problems(["TOCSIN_CONFIG": path], files: files)
        #expect(found.count == 1 && found[0].contains(path) && found[0].contains(word), "\(found)")
    }

    @Test(
        "a value that makes no sense is refused with its name and what to write",
        arguments: [
            ("TOCSIN_PORT", "http", "0 to 65535"), ("TOCSIN_PORT", "65536", "0 to 65535"), ("TOCSIN_PORT", "-1", "0"),
            ("TOCSIN_PUSH_LEASE_SECONDS", "1e9", "number"), ("TOCSIN_PUSH_LEASE_SECONDS", "inf", "number"),
            ("TOCSIN_PUSH_LEASE_SECONDS", "", ""), ("TOCSIN_PUSH_RETRY_SECONDS", "1,x", "1,5,30"),
            ("TOCSIN_PUSH_RETRY_SECONDS", "-1", "1,5,30"), ("TOCSIN_MIGRATE", "maybe", "true or false"),
            ("TOCSIN_LOG_LEVEL", "loud", "warning"), ("TOCSIN_DATABASE_URL", "postgres://u:%zz@h/d", "libpq"),
            ("TOCSIN_DATABASE_URL", "data.db", "sqlite:PATH"), ("TOCSIN_JWKS_URL", "http://h/keys", "https"),
            ("APNS_ENDPOINT", "localhost", "https://HOST"), ("TOCSIN_HOST", "a\nb", "control characters"),
            ("TOCSIN_JWT_ISSUER", "tocsin", "own tokens"), ("TOCSIN_REGISTRATION_PROOF", "yes", "require"),
            ("TOCSIN_PUBLIC_NAME", "https://push.example.com/", "nothing else"),
            ("TOCSIN_ALLOWED_ORIGINS", "https://a.example/", "https://HOST"),
            ("TOCSIN_ALLOWED_ORIGINS", "https://a.example,a.example", "https://HOST"),
            ("TOCSIN_ALLOWED_ORIGINS", "null", "https://HOST"),
            ("TOCSIN_ALLOWED_ORIGINS", "https://*.a", "https://HOST"),
            ("TOCSIN_ALLOWED_HEADERS", "x-a: b", "header fields"), ("TOCSIN_ORIGIN_SECONDS", "86401", "86400"),
        ]
    )
    func badValues(variable: String, value: String, word: String) throws {
        let found = problems([variable: value])
        guard !value.isEmpty else {
            #expect(found.isEmpty)
            return
        }
        let problem = try #require(found.first)
        #expect(problem.contains(variable) && problem.contains(word), "\(problem)")
        #expect(!problem.contains("u:p@"))
    }

    @Test("all problems are told at once, and no missing value is blamed for a wrong one")
    func allAtOnce() {
        let found = problems(
            flags: ["port": "x"],
            [
                "TOCSIN_PUSH_IN_FLIGHT": "0", "TOCSIN_JWKS_URL": "http://x", "TOCSIN_JWT_ISSUER": "https://id",
                "TOCSIN_JWT_AUDIENCE": "app", "APNS_KEY_ID": "ABCDE12345",
            ]
        )
        #expect(found.count == 4, "\(found)")
        for word in ["--port", "TOCSIN_PUSH_IN_FLIGHT", "TOCSIN_JWKS_URL", "Apple push is set up half-way"] {
            #expect(found.contains { $0.contains(word) }, "\(word)")
        }
        let text = SettingsProblems(problems: found).description
        #expect(text.hasPrefix("4 settings are wrong:\n  - "))
    }

    @Test("a name that is no setting gets a warning with the nearest one")
    func unknownNames() throws {
        let files = TestFiles.make(["t.toml": "prot = 1"])
        let reading = try read(
            [
                "TOCSIN_PROT": "1", "TOCSIN_WHATEVER_ELSE": "1", "TOCSIN_TOKEN": "t", "PATH": "/bin",
                "TOCSIN_CONFIG": "t.toml",
            ],
            files: files
        )
        #expect(reading.warnings.count == 3, "\(reading.warnings)")
        #expect(reading.warnings.contains { $0.contains("TOCSIN_PROT ") && $0.contains("Did you mean TOCSIN_PORT?") })
        #expect(reading.warnings.contains { $0.contains("TOCSIN_WHATEVER_ELSE") && !$0.contains("mean") })
        #expect(reading.warnings.contains { $0.contains("t.toml: prot") && $0.contains("Did you mean port?") })
        #expect(problems(flags: ["prot": "1"]).first?.contains("Did you mean --port?") == true)
        // The key of TOCSIN_DATABASE_URL, which is not nearest by its letters.
        #expect(problems(flags: ["database-url": "x"]).first?.contains("Did you mean --database?") == true)
    }

    @Test("what does not fit together is refused")
    func consistency() {
        #expect(problems(["TOCSIN_PUSH_REQUEST_TIMEOUT_SECONDS": "31"]).first?.contains("twice") == true)
        #expect(problems(["TOCSIN_PAGE_ROWS": "2000"]).first?.contains("TOCSIN_PAGE_MAXIMUM_ROWS") == true)
        let proof = ["TOCSIN_REGISTRATION_PROOF": "require"]
        #expect(problems(proof).first?.contains("TOCSIN_PUBLIC_NAME") == true)
        #expect(problems(proof.merging(["TOCSIN_PUBLIC_NAME": "push.example.com:8443"]) { $1 }).isEmpty)
        #expect(problems(["TOCSIN_TLS_KEY": "k.pem"]).first?.contains("TOCSIN_TLS_CERTIFICATE") == true)
    }
}

/// Variables that no release may drop.
private let promisedVariables = [
    "TOCSIN_HOST", "TOCSIN_PORT", "TOCSIN_DATABASE_URL", "TOCSIN_DATA_DIR", "TOCSIN_NODE", "TOCSIN_SCHEMA",
    "TOCSIN_JWT_ISSUER", "TOCSIN_JWT_AUDIENCE", "TOCSIN_JWKS_URL", "TOCSIN_JWKS_FILE", "TOCSIN_JWT_HS256_SECRET",
    "TOCSIN_JWT_HS256_SECRET_FILE", "APNS_KEY_ID", "APNS_AUTH_KEY_ID", "APNS_TEAM_ID", "APNS_KEY_CONTENTS",
    "APNS_KEY_CONTENTS_FILE", "APNS_AUTH_KEY_PATH", "APNS_KEY_FILE", "APNS_BUNDLE_ID", "APNS_TOPIC", "APNS_PRODUCTION",
    "APNS_USE_SANDBOX", "FCM_PROJECT_ID", "FCM_CLIENT_EMAIL", "FCM_PRIVATE_KEY", "FCM_PRIVATE_KEY_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS", "FCM_SERVICE_ACCOUNT_FILE", "APNS_ENDPOINT", "FCM_ENDPOINT", "FCM_TOKEN_ENDPOINT",
    "TOCSIN_PUSH_CA_FILE", "TOCSIN_PUSH_RETRY_SECONDS", "TOCSIN_PUSH_LEASE_SECONDS",
    "TOCSIN_PUSH_REQUEST_TIMEOUT_SECONDS", "TOCSIN_PUSH_IN_FLIGHT",
]
