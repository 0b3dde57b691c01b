import Foundation
import Testing

/// The files of a server that speaks TLS and is reloaded.
final class ReloadSite {
    static let applied = "the settings were reloaded"
    static let refused = "the settings were not reloaded"

    private let installation: Installation
    /// The pair that the server shows.
    var shown = "first"

    init(_ installation: Installation) { self.installation = installation }

    func path(_ name: String) -> String { installation.folder + "/" + name }

    /// Makes NAME.pem and NAME-key.pem for this machine, and adds it to `authorities.pem`.
    func makePair(_ name: String) async throws {
        let result = try await openssl([
            "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-addext", "subjectAltName=IP:127.0.0.1",
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-keyout", path("\(name)-key.pem"), "-out",
            path("\(name).pem"),
        ])
        guard result.status == 0 else { throw HarnessFailure("openssl: \(result.errors)") }
        let known = (try? String(contentsOfFile: path("authorities.pem"), encoding: .utf8)) ?? ""
        let certificate = try String(contentsOfFile: path("\(name).pem"), encoding: .utf8)
        try (known + certificate).write(toFile: path("authorities.pem"), atomically: true, encoding: .utf8)
    }

    /// Puts a pair, or parts of two, where the server reads them.
    func use(_ name: String, key: String? = nil) throws {
        for (from, to) in [("\(name).pem", "tls.pem"), ("\(key ?? name)-key.pem", "tls-key.pem")] {
            let contents = try Data(contentsOf: URL(fileURLWithPath: path(from)))
            try contents.write(to: URL(fileURLWithPath: path(to)), options: .atomic)
            chmod(path(to), 0o600)
        }
    }

    /// Writes the settings file.
    func write(burst: Int = 1_000_000, _ more: String = "") throws {
        let text = """
            tls-certificate = "\(path("tls.pem"))"
            tls-key = "\(path("tls-key.pem"))"
            rate-per-second = 1000000
            rate-burst = \(burst)
            log-level = "notice"
            \(more)
            """
        try text.write(toFile: path("tocsin.toml"), atomically: true, encoding: .utf8)
    }

    /// Breaks one of the files, another one each time.
    func spoil(_ number: Int) throws {
        switch number / 2 % 5 {
        case 0: try write("port port")
        case 1: try use("first", key: "second")
        case 2: try write("page-rows = \"many\"")
        case 3: try write("routes = \"\(path("none.json"))\"")
        default: try write("oidc-client-id = \"a\"")
        }
    }

    /// Sends SIGHUP and waits for the line that it leads to.
    func hangUp(until text: String) async throws {
        let lines = { self.installation.log.split(separator: "\n").filter { $0.contains(text) }.count }
        let before = lines()
        installation.server?.process.signal(SIGHUP)
        try await eventually("the log says: \(text)") { lines() > before }
        #expect(installation.server?.process.status == nil)
    }

    /// What a new connection is shown.
    func expectCertificate(_ name: String) async throws {
        let seen = try await openssl(["s_client", "-connect", "127.0.0.1:\(installation.server?.port ?? 0)"])
        #expect(seen.output.replacing(" ", with: "").contains("subject=CN=\(name)"), "\(seen)")
    }

    /// How many descriptors the server has open.
    func descriptors() throws -> Int {
        let process = installation.server?.process.processID ?? 0
        return try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
    }

    private func openssl(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await ChildProcess.run(
            "/usr/bin/openssl",
            arguments,
            environment: TestBinary.environment,
            folder: installation.folder
        )
    }
}
