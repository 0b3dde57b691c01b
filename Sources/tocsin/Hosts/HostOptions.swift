import ArgumentParser
import FoundationEssentials
import Glibc
import TocsinClient

/// Where a host's events and mails go, with which key, and where they wait.
struct HostOptions: ParsableArguments {
    @Option(help: "The server's address. Default: $TOCSIN_URL, else http://127.0.0.1:8080.")
    var server: String?

    @Option(
        help: "The file with the integration's key. Default: $TOCSIN_KEY_FILE, else \(HostSettings.keyFile)."
    )
    var keyFile: String?

    @Option(help: "The folder where events wait until the server has them.")
    var spool = HostSettings.spool

    @Option(help: "A PEM file with further certificate authorities to trust.")
    var caFile: String?

    var settings: HostSettings {
        HostSettings(server: server, keyFile: keyFile, spool: spool, authorityFile: caFile)
    }
}

/// The same, checked and complete: paths are absolute, for they are read by later runs.
struct HostSettings {
    static let keyFile = "/etc/tocsin/mail.key"
    static let spool = "/var/spool/tocsin"

    var server: String
    var keyFile: String
    var spool: String
    var authorityFile: String?

    /// What is not given comes from the environment, else from the defaults.
    init(server: String?, keyFile: String?, spool: String?, authorityFile: String?) {
        let environment = HostVariables()
        self.server = server ?? environment["TOCSIN_URL"] ?? "http://127.0.0.1:8080"
        self.keyFile = Self.absolute(keyFile ?? environment["TOCSIN_KEY_FILE"] ?? Self.keyFile)
        var folder = Self.absolute(spool ?? Self.spool)
        while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        self.spool = folder
        self.authorityFile = authorityFile.map(Self.absolute)
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// A post to the integration of the key.
    func entry(path: String, contentType: String, body: [UInt8]) -> SpoolEntry {
        SpoolEntry(
            server: server,
            keyFile: keyFile,
            authorityFile: authorityFile,
            path: path,
            contentType: contentType,
            body: body
        )
    }
}
