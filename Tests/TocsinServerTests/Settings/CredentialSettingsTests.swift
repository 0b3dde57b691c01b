import JSON
import Testing
import TocsinServer

@Suite("Settings of sign-in and push")
struct CredentialSettingsTests {
    private static let apple = [
        "APNS_KEY_ID": "ABCDE12345", "APNS_TEAM_ID": "TEAM123456", "APNS_BUNDLE_ID": "com.example",
    ]
    private static let keySet =
        #"{"keys":[{"kty":"EC","crv":"P-256","kid":"1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}"#

    @Test(
        "Apple's key is read from its text, its path or a secret file, under each name",
        arguments: [
            ("APNS_KEY_CONTENTS", TestFiles.p8), ("APNS_KEY_CONTENTS", TestFiles.p8.replacing("\n", with: "\\n")),
            ("APNS_AUTH_KEY_PATH", "k.p8"), ("APNS_KEY_FILE", "k.p8"), ("APNS_KEY_CONTENTS_FILE", "k.p8"),
        ]
    )
    func appleKey(variable: String, value: String) throws {
        var environment = Self.apple
        environment[variable] = value
        let reading = try read(environment, files: TestFiles.make(["k.p8": TestFiles.p8 + "\n"]))
        #expect(reading.settings.apns.isConfigured)
        #expect(reading.settings.apns.privateKey?.contents.hasPrefix("-----BEGIN") == true)
        #expect(reading.settings.apns.keyID == "ABCDE12345")
        #expect(reading.settings.apns.bundleID == "com.example")
        #expect(reading.warnings.isEmpty)
    }

    @Test("a credential of the service manager is read like a file of its variable")
    func serviceCredential() throws {
        let path = "/run/credentials/tocsin.service/APNS_KEY_CONTENTS"
        let files = TestFiles.make([path: TestFiles.p8 + "\n", "other.p8": TestFiles.serviceAccountKey])
        var environment = Self.apple
        environment["CREDENTIALS_DIRECTORY"] = "/run/credentials/tocsin.service"
        let reading = try read(environment, files: files)
        #expect(reading.settings.apns.isConfigured)
        let origin = reading.origins.first { $0.variable == "APNS_KEY_CONTENTS" }
        #expect(origin?.origin == "the credential APNS_KEY_CONTENTS" && origin?.isMasked == true)
        environment["APNS_KEY_FILE"] = "other.p8"
        #expect(problems(environment, files: files).first?.contains("two names of one setting") == true)
        #expect(try read(["CREDENTIALS_DIRECTORY": "relative"], files: files).warnings.isEmpty)
    }

    @Test("the same key under two names is one key, another one stops the start")
    func disagreement() throws {
        let files = TestFiles.make(["k.p8": TestFiles.p8 + "\n", "other.p8": TestFiles.serviceAccountKey])
        var environment = Self.apple
        environment["APNS_KEY_CONTENTS"] = TestFiles.p8
        environment["APNS_KEY_FILE"] = "k.p8"
        #expect(problems(environment, files: files).isEmpty)
        environment["APNS_KEY_FILE"] = "other.p8"
        let found = problems(environment, files: files)
        #expect(
            found.first
                == "APNS_KEY_CONTENTS and APNS_KEY_FILE are two names of one setting and disagree. Keep one of them."
        )
        #expect(problems(["APNS_KEY_ID": "A", "APNS_AUTH_KEY_ID": "B"]).first?.contains("disagree") == true)
    }

    @Test(
        "Apple's key must be one",
        arguments: [
            TestFiles.serviceAccountKey, "k.p8", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        ]
    )
    func badAppleKey(text: String) {
        var environment = Self.apple
        environment["APNS_KEY_CONTENTS"] = text
        let found = problems(environment)
        #expect(found.count == 1 && found[0].hasPrefix("APNS_KEY_CONTENTS: the value cannot be used"), "\(found)")
        #expect(!found.description.contains("AAAA"))
    }

    @Test(
        "APNS_USE_SANDBOX means the opposite of APNS_PRODUCTION and is deprecated",
        arguments: [("true", nil, false), ("false", nil, true), ("0", "1", true), ("1", "off", false)]
            as [(String, String?, Bool)]
    )
    func sandbox(sandbox: String, production: String?, isProduction: Bool) throws {
        var environment = ["APNS_USE_SANDBOX": sandbox]
        environment["APNS_PRODUCTION"] = production
        let reading = try read(environment)
        #expect(reading.settings.apns.isProduction == isProduction)
        #expect(reading.warnings.count == 1 && reading.warnings[0].contains("deprecated"))
        #expect(problems(["APNS_USE_SANDBOX": "true", "APNS_PRODUCTION": "true"]).first?.contains("disagree") == true)
    }

    @Test("Google's key file gives all, and single values fill or override where they may")
    func googleFile() throws {
        let files = TestFiles.make(["sa.json": TestFiles.serviceAccount()])
        let fcm = try read(["GOOGLE_APPLICATION_CREDENTIALS": "sa.json"], files: files).settings.fcm
        #expect(fcm.isConfigured)
        #expect(fcm.projectID == "demo")
        #expect(fcm.clientEmail == "robot@demo.example")
        #expect(fcm.privateKeyID == "k1")
        #expect(fcm.tokenEndpoint == "https://oauth2.googleapis.com/token")
        let other = try read(
            [
                "FCM_SERVICE_ACCOUNT_FILE": "sa.json", "FCM_PROJECT_ID": "other",
                "FCM_TOKEN_ENDPOINT": "http://127.0.0.1:1/t",
            ],
            files: files
        ).settings.fcm
        #expect(other.projectID == "other")
        #expect(other.tokenEndpoint == "http://127.0.0.1:1/t")
        let found = problems(["GOOGLE_APPLICATION_CREDENTIALS": "sa.json", "FCM_CLIENT_EMAIL": "x@y"], files: files)
        #expect(found.first?.contains("disagree") == true)
    }

    @Test("Google's values can be given one by one, with literal line breaks")
    func googleValues() throws {
        let fcm = try read([
            "FCM_PROJECT_ID": "demo", "FCM_CLIENT_EMAIL": "a@b",
            "FCM_PRIVATE_KEY": TestFiles.serviceAccountKey.replacing("\n", with: "\\n") + "\\n",
        ]).settings.fcm
        #expect(fcm.isConfigured)
        let found = problems(["FCM_PROJECT_ID": "demo", "FCM_CLIENT_EMAIL": "a@b"])
        #expect(found.first?.contains("without FCM_PRIVATE_KEY") == true, "\(found)")
    }

    @Test(
        "a key file that is none is told apart",
        arguments: [
            ("{", "not JSON"), (TestFiles.serviceAccount([("type", "authorized_user")]), "authorized_user"),
            (TestFiles.serviceAccount([("client_email", nil)]), "client_email"),
            (TestFiles.serviceAccount([("private_key", .string(TestFiles.p8))]), "RS256"),
            (TestFiles.serviceAccount([("token_uri", "ftp://x")]), "token_uri"),
        ]
    )
    func badGoogleFile(text: String, word: String) {
        let found = problems(["GOOGLE_APPLICATION_CREDENTIALS": "sa.json"], files: TestFiles.make(["sa.json": text]))
        #expect(found.first?.contains("sa.json") == true && found.first?.contains(word) == true, "\(found)")
    }

    @Test("the key of Google's old API is answered with what to set instead")
    func legacyKey() throws {
        let reading = try read(["FCM_SERVER_KEY": "AAAAlegacy"])
        #expect(reading.warnings.count == 1)
        #expect(reading.warnings.first?.contains("GOOGLE_APPLICATION_CREDENTIALS") == true)
        #expect(!reading.warnings.description.contains("AAAAlegacy"))
    }

    @Test("a secret's file that others may read is refused, in a container only noted")
    func openFiles() throws {
        let contents = ["s": "0123456789abcdef0123456789abcdef\n"]
        let environment = [
            "TOCSIN_JWT_HS256_SECRET_FILE": "s", "TOCSIN_JWT_ISSUER": "https://id", "TOCSIN_JWT_AUDIENCE": "app",
        ]
        let found = problems(environment, files: TestFiles.make(contents, open: ["s"]))
        #expect(found.count == 1 && found[0].contains("chmod 600 s"), "\(found)")
        let reading = try read(environment, files: TestFiles.make(contents, open: ["s"], isInContainer: true))
        #expect(reading.warnings.count == 1)
        #expect(reading.settings.signIn.hs256Secret?.contents == "0123456789abcdef0123456789abcdef")
        #expect(problems(["TOCSIN_JWT_HS256_SECRET_FILE": "gone"]).first?.contains("no such file") == true)
        #expect(problems(environment, files: TestFiles.make(["s": " \n"])).first?.contains("empty") == true)
    }

    @Test("a settings file that others may read is noted when it holds a secret")
    func openSettingsFile() throws {
        let (plain, secret) = ("port = 9000\n", "database = \"postgres://a:b@c/d\"\n")
        let webhook = """
            [[webhooks]]
            name = "a"
            url = "https://example.com/a"
            secret = "0123456789abcdef0123456789abcdef"
            """
        for (text, isOpen, warns) in [
            (plain, true, false), (secret, false, false), (secret, true, true), (webhook, true, true),
        ] {
            let files = TestFiles.make(["tocsin.toml": text], open: isOpen ? ["tocsin.toml"] : [])
            let warnings = try read(["TOCSIN_CONFIG": "tocsin.toml"], files: files).warnings
            #expect(warnings.contains { $0.contains("chmod 600 tocsin.toml") } == warns, "\(warnings)")
        }
    }

    @Test("sign-in needs one source of keys, an issuer and an audience")
    func signIn() throws {
        let files = TestFiles.make(["keys.json": Self.keySet])
        let whole = ["TOCSIN_JWKS_FILE": "keys.json", "TOCSIN_JWT_ISSUER": "https://id", "TOCSIN_JWT_AUDIENCE": "a, b"]
        let signIn = try read(whole, files: files).settings.signIn
        #expect(signIn.audiences == ["a", "b"])
        #expect(signIn.jwks == Array(Self.keySet.utf8))
        for name in whole.keys {
            var part = whole
            part[name] = nil
            #expect(!problems(part, files: files).isEmpty, "\(name)")
        }
        var two = whole
        two["TOCSIN_JWKS_URL"] = "https://id/keys"
        #expect(problems(two, files: files).first?.contains("exclude each other") == true)
        #expect(problems(whole, files: TestFiles.make(["keys.json": "{}"])).first?.contains("keys.json") == true)
    }

    @Test("a short shared secret is warned of, one that can be guessed refused")
    func shortSecrets() throws {
        let environment = ["TOCSIN_JWT_ISSUER": "https://id", "TOCSIN_JWT_AUDIENCE": "app"]
        let short = environment.merging(["TOCSIN_JWT_HS256_SECRET": "0123456789abcdef"]) { $1 }
        #expect(try read(short).warnings.first?.contains("shorter than 32") == true)
        let guessable = environment.merging(["TOCSIN_JWT_HS256_SECRET": "hunter2"]) { $1 }
        let found = problems(guessable)
        #expect(found.count == 1 && !found[0].contains("hunter2"), "\(found)")
    }

    @Test("no secret is ever shown")
    func masking() throws {
        let secret = "s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t"
        let reading = try read(
            Self.apple.merging([
                "TOCSIN_JWT_HS256_SECRET": secret, "TOCSIN_JWT_ISSUER": "https://id", "TOCSIN_JWT_AUDIENCE": "app",
                "APNS_KEY_CONTENTS": TestFiles.p8,
            ]) { $1 }
        )
        var dumped = ""
        dump(reading.settings, to: &dumped)
        let shown = [
            dumped, "\(reading)", String(reflecting: reading.settings),
            SettingsReport.text(reading.origins, showsOrigin: true),
            SettingsReport.json(reading.origins).serializedString(),
        ]
        let keyLine = try #require(TestFiles.p8.split(separator: "\n").dropFirst().first)
        for text in shown {
            #expect(!text.contains("s3cr3t"))
            #expect(!text.contains(keyLine))
        }
        #expect(SettingsReport.text(reading.origins, showsOrigin: false).contains(#"jwt-hs256-secret = "(secret)""#))
    }
}
