import Testing
import TocsinServer

@Suite("Settings of the admin listener, the socket and the base path")
struct AdminSettingsTests {
    private static let token = String(repeating: "t", count: 32)

    @Test("without a setting the socket is in the data directory, on PostgreSQL too")
    func standard() throws {
        for variables in [[:], ["TOCSIN_DATABASE_URL": "postgres://db/tocsin"]] {
            let settings = try read(variables.merging(["TOCSIN_DATA_DIR": "/var/lib/tocsin"]) { $1 }).settings
            let addresses = settings.admin.listening.addresses(dataDirectory: settings.server.dataDirectory)
            #expect(addresses == [.socket(path: "/var/lib/tocsin/admin.sock")])
        }
    }

    @Test(
        "addresses are read and shown as they are written",
        arguments: [
            "off", "unix:/run/tocsin/admin.sock", "127.0.0.1:9464", "[::1]:9464", "localhost:0",
            "unix:admin.sock,127.0.0.1:9464",
        ]
    )
    func addresses(text: String) throws {
        let reading = try read(["TOCSIN_ADMIN_LISTEN": text])
        #expect(reading.origins.first { $0.key == "admin-listen" }?.value == text)
        let count = text == "off" ? 0 : text.split(separator: ",").count
        #expect(reading.settings.admin.listening.addresses(dataDirectory: "d").count == count)
    }

    @Test(
        "what is no address is refused with what to write",
        arguments: [
            "9464", "somewhere:9464", "127.0.0.1", "127.0.0.1:70000", "unix:", ",", "1.1.1.1:1,off",
            "unix:/" + String(repeating: "x", count: 107), "[::1:9464",
        ]
    )
    func refusedAddresses(text: String) {
        let found = problems(["TOCSIN_ADMIN_LISTEN": text, "TOCSIN_ADMIN_TOKEN": Self.token])
        #expect(found.count == 1 && found[0].hasPrefix("TOCSIN_ADMIN_LISTEN"), "\(found)")
    }

    @Test("an address that other machines reach needs a token, which is never shown")
    func token() throws {
        for address in ["0.0.0.0:9464", "192.0.2.1:9464", "[::]:9464"] {
            let found = problems(["TOCSIN_ADMIN_LISTEN": address])
            #expect(found.count == 1 && found[0].contains("TOCSIN_ADMIN_TOKEN_FILE"), "\(found)")
            let files = TestFiles.make(["token": Self.token + "\n"])
            let variables = ["TOCSIN_ADMIN_LISTEN": address, "TOCSIN_ADMIN_TOKEN_FILE": "token"]
            let reading = try read(variables, files: files)
            #expect(reading.settings.admin.token?.contents == Self.token)
            #expect(reading.origins.first { $0.key == "admin-token" }?.isMasked == true)
        }
        #expect(problems(["TOCSIN_ADMIN_TOKEN": "short"]).count == 1)
        #expect(problems(["TOCSIN_ADMIN_LISTEN": "127.0.0.1:9464"]).isEmpty)
    }

    @Test(
        "a base path begins with a slash and ends without one",
        arguments: [
            ("/tocsin", "/tocsin"), ("/a/b-c_d.e~f", "/a/b-c_d.e~f"), ("/", ""), ("tocsin", nil), ("/tocsin/", nil),
            ("/a//b", nil), ("/a/../b", nil), ("/ä", nil), ("/a?b", nil), ("//", nil),
            ("/" + String(repeating: "x", count: 128), nil),
        ]
    )
    func basePath(text: String, path: String?) throws {
        guard let path else {
            let found = problems(["TOCSIN_BASE_PATH": text])
            return #expect(found.count == 1 && found[0].contains("/tocsin"), "\(found)")
        }
        #expect(try read(["TOCSIN_BASE_PATH": text]).settings.server.basePath == path)
    }

    @Test("the front's socket has a path and rights")
    func socket() throws {
        let settings = try read(["TOCSIN_HOST": "unix:/run/t.sock", "TOCSIN_SOCKET_MODE": "0600"]).settings.server
        #expect(settings.socketPath == "/run/t.sock" && settings.socketMode == 0o600)
        #expect(try read().settings.server.socketPath == nil)
        #expect(problems(["TOCSIN_HOST": "unix:"]).count == 1)
        #expect(problems(["TOCSIN_HOST": "unix:/" + String(repeating: "x", count: 107)]).count == 1)
        for mode in ["rw", "888", "0", "1777"] {
            #expect(problems(["TOCSIN_SOCKET_MODE": mode]).count == 1, "\(mode)")
        }
    }
}
