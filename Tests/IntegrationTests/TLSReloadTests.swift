import Foundation
import Testing

@Suite("TLS of a running server", .timeLimit(.minutes(5)))
struct TLSReloadTests {
    private static let reloaded = "the settings were reloaded"
    private static let kept = "the settings were not reloaded"

    /// A server that speaks TLS with a certificate of this name.
    private static func run(name: String, _ body: (Installation) async throws -> Void) async throws {
        let prepare = { (installation: Installation) in
            try await makePair(name, kind: "rsa", installation)
            try use(name, in: installation)
            installation.options = [
                "--tls-certificate", installation.folder + "/tls.pem", "--tls-key",
                installation.folder + "/tls-key.pem",
            ]
        }
        try await Installation.run(prepare: prepare, body)
    }

    /// Makes NAME.pem and NAME-key.pem with openssl.
    private static func makePair(_ name: String, kind: String, _ installation: Installation) async throws {
        let key = kind == "rsa" ? ["rsa:2048"] : ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        let result = try await openssl(
            ["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-newkey"] + key
                + ["-keyout", installation.folder + "/\(name)-key.pem", "-out", installation.folder + "/\(name).pem"],
            installation
        )
        guard result.status == 0 else { throw HarnessFailure("openssl: \(result.errors)") }
    }

    /// Puts a pair, or parts of two, where the server reads them.
    private static func use(_ name: String, key: String? = nil, in installation: Installation) throws {
        for (from, to) in [("\(name).pem", "tls.pem"), ("\(key ?? name)-key.pem", "tls-key.pem")] {
            let (source, target) = (installation.folder + "/" + from, installation.folder + "/" + to)
            let contents = try Data(contentsOf: URL(fileURLWithPath: source))
            try contents.write(to: URL(fileURLWithPath: target), options: .atomic)
            chmod(target, 0o600)
        }
    }

    private static func openssl(
        _ arguments: [String],
        _ installation: Installation
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await ChildProcess.run(
            "/usr/bin/openssl",
            arguments,
            environment: TestBinary.environment,
            folder: installation.folder
        )
    }

    private static func address(_ installation: Installation) -> String {
        "127.0.0.1:\(installation.server?.port ?? 0)"
    }

    /// What a handshake brings.
    private static func handshake(
        _ installation: Installation,
        _ options: [String] = []
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await openssl(["s_client", "-connect", address(installation)] + options, installation)
    }

    private static func expectCertificate(_ name: String, _ installation: Installation) async throws {
        let seen = try await handshake(installation)
        #expect(seen.output.replacing(" ", with: "").contains("subject=CN=\(name)"), "\(seen)")
    }

    /// Sends SIGHUP and waits for the line that it leads to, which is the
    /// server's next one of this text.
    private static func hangUp(_ installation: Installation, until text: String) async throws {
        let lines = { installation.log.split(separator: "\n").filter { $0.contains(text) }.count }
        let before = lines()
        installation.server?.process.signal(SIGHUP)
        try await eventually("the log says: \(text)") { lines() > before }
        #expect(installation.server?.process.status == nil)
    }

    @Test("after SIGHUP new connections see the new certificate, and connections that are open go on")
    func reload() async throws {
        try await Self.run(name: "first") { installation in
            let token = try await installation.addUser("ada")
            try await Self.expectCertificate("first", installation)
            // A connection of before the signal, for both of its requests.
            let input = installation.folder + "/input"
            guard mkfifo(input, 0o600) == 0 else { throw HarnessFailure("No pipe can be made.") }
            // Opened for both, so that neither side waits for the other.
            let pipe = open(input, O_RDWR | O_CLOEXEC)
            defer { close(pipe) }
            let kept = try ChildProcess(
                "/usr/bin/openssl",
                ["s_client", "-quiet", "-no_ign_eof", "-connect", Self.address(installation)],
                environment: TestBinary.environment,
                folder: installation.folder,
                inputPath: input
            )
            defer { kept.signal(SIGKILL) }
            let ask = Array("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            #expect(write(pipe, ask, ask.count) == ask.count)
            try await eventually("the first answer") { kept.output.contains("HTTP/1.1 200 OK") }

            try await Self.makePair("second", kind: "ec", installation)
            try Self.use("second", in: installation)
            try await Self.hangUp(installation, until: Self.reloaded)
            try await Self.expectCertificate("second", installation)
            #expect(write(pipe, ask, ask.count) == ask.count)
            try await eventually("the second answer on the connection of before") {
                kept.output.components(separatedBy: "HTTP/1.1 200 OK").count == 3
            }
            let answer = try await installation.http("/graphql", token: token, ["--insecure", "--json", Self.me])
            #expect(answer.status == 200)
        }
    }

    private static let me = #"{"query":"{ me { username } }"}"#

    @Test("files that cannot be used leave the old ones in use, and an error line says why")
    func refused() async throws {
        try await Self.run(name: "first") { installation in
            try await Self.makePair("second", kind: "rsa", installation)
            let (certificate, key) = (installation.folder + "/tls.pem", installation.folder + "/tls-key.pem")
            try Self.use("second", key: "first", in: installation)
            try await Self.hangUp(installation, until: Self.kept)
            #expect(installation.log.contains("it is not the key of the certificate"))
            try await Self.expectCertificate("first", installation)
            try "no key".write(toFile: key, atomically: true, encoding: .utf8)
            try await Self.hangUp(installation, until: Self.kept)
            try FileManager.default.removeItem(atPath: certificate)
            try await Self.hangUp(installation, until: Self.kept)
            try await Self.expectCertificate("first", installation)
            #expect(installation.log.contains("tls.pem") && installation.log.contains(#""level":"error""#))
            try Self.use("second", in: installation)
            try await Self.hangUp(installation, until: Self.reloaded)
            try await Self.expectCertificate("second", installation)
            #expect(try await installation.stopServer() == 0)
        }
    }

    @Test("a server without TLS reloads too, and goes on")
    func plain() async throws {
        try await Installation.run { installation in
            for _ in 1...2 { try await Self.hangUp(installation, until: Self.reloaded) }
            #expect(try await installation.http("/healthz").status == 200)
            #expect(try await installation.stopServer() == 0)
        }
    }

    @Test("TLS 1.2 has only suites with forward secrecy; TLS 1.3 is there, older ones are not")
    func suites() async throws {
        try await Self.run(name: "first") { installation in
            for suite in ["AES128-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA"] {
                let seen = try await Self.handshake(installation, ["-tls1_2", "-cipher", "\(suite):@SECLEVEL=0"])
                #expect(seen.status != 0, "\(suite): \(seen.output)")
                #expect((seen.output + seen.errors).contains("alert handshake failure"), "\(suite): \(seen)")
            }
            for suite in [
                "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
            ] {
                let seen = try await Self.handshake(installation, ["-tls1_2", "-cipher", suite])
                #expect(seen.status == 0 && seen.output.contains("Cipher is \(suite)"), "\(seen)")
            }
            let newest = try await Self.handshake(installation, ["-tls1_3"])
            #expect(newest.status == 0 && newest.output.contains("TLSv1.3"), "\(newest)")
            let old = try await Self.handshake(installation, ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
            #expect(old.status != 0)
        }
    }
}
