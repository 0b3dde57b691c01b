import Foundation
import HTTPTypes
import Testing
import TocsinHTTP

@Suite("Sockets in the file system, and a base path", .timeLimit(.minutes(5)))
struct UnixSocketTests {
    /// A folder that goes.
    private static func inFolder(_ body: (String) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "s-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(folder)
    }

    private static func ask(_ path: String, socket: String, _ fields: String = "") async throws -> RawResponse {
        let client = try await RawClient.connect(socket: socket)
        defer { client.close() }
        client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        return try await client.response()
    }

    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private static func reason(_ path: String) async -> String {
        var settings = HTTPServerSettings()
        settings.unixSocket = UnixSocket(path)
        let server = TestServer.make(settings: settings)
        do throws(HTTPServerError) {
            _ = try await server.start()
            await server.shutdown(graceSeconds: 0)
            return "it listened"
        } catch {
            return error.description
        }
    }

    @Test("requests come over a socket whose file has the mode asked for, and which goes with the server")
    func served() async throws {
        try await Self.inFolder { folder in
            let path = folder + "/front.sock"
            try await TestServer.with(settings: { $0.unixSocket = UnixSocket(path, mode: 0o660) }) { server in
                #expect(server.host == path)
                #expect(try await Self.ask("/healthz", socket: path).status == 200)
                #expect(try Self.mode(path) == 0o660)
                let socket = try await RawClient.connect(socket: path)
                try await socket.openSession()
            }
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("the proxy behind the socket is believed on where a request came from")
    func forwarded() async throws {
        try await Self.inFolder { folder in
            let path = folder + "/front.sock"
            let route = HTTPRoute(.get, "/who") { request in
                let text = request.clientAddress.map { "\($0)" } ?? "nobody"
                return OutgoingResponse(status: .ok, contentType: "text/plain", body: Array(text.utf8))
            }
            try await TestServer.with(routes: [route], settings: { $0.unixSocket = UnixSocket(path) }) { _ in
                let named = try await Self.ask("/who", socket: path, "X-Forwarded-For: 192.0.2.7\r\n")
                #expect(named.body == "192.0.2.7")
                #expect(try await Self.ask("/who", socket: path).body == "nobody")
            }
        }
    }

    @Test("processes of users that are not let in are cut off before they are heard")
    func peers() async throws {
        try await Self.inFolder { folder in
            let path = folder + "/admin.sock"
            for isAdmitted in [true, false] {
                let change = { (settings: inout HTTPServerSettings) in
                    settings.unixSocket = UnixSocket(path)
                    settings.admitsUser = { user in (user == geteuid()) == isAdmitted }
                }
                try await TestServer.with(settings: change) { _ in
                    let client = try await RawClient.connect(socket: path)
                    client.send("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    #expect(await client.readToEnd().hasPrefix("HTTP/1.1 200 ") == isAdmitted)
                }
            }
        }
    }

    @Test("a socket at which a server listens is not taken; the file of a server that died is replaced")
    func taken() async throws {
        try await Self.inFolder { folder in
            let path = folder + "/front.sock"
            try await TestServer.with(settings: { $0.unixSocket = UnixSocket(path) }) { _ in
                #expect(await Self.reason(path).contains("another process listens there"))
                let answer = try await Self.ask("/healthz", socket: path)
                #expect(answer.status == 200)
            }
            try Self.leaveSocket(at: path)
            #expect(FileManager.default.fileExists(atPath: path))
            try await TestServer.with(settings: { $0.unixSocket = UnixSocket(path) }) { _ in
                let answer = try await Self.ask("/healthz", socket: path)
                #expect(answer.status == 200)
            }
        }
    }

    /// Binds a socket and closes it, which leaves its file as a killed process does.
    private static func leaveSocket(at path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(status == 0)
    }

    @Test("what cannot be a socket's path is said in a sentence, and a file of that name is left alone")
    func impossible() async throws {
        try await Self.inFolder { folder in
            let file = folder + "/file"
            try "kept".write(toFile: file, atomically: true, encoding: .utf8)
            #expect(await Self.reason(file).contains("no socket"))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "kept")
            let long = folder + "/" + String(repeating: "x", count: 108)
            #expect(await Self.reason(long).contains("a socket's has at most 107"))
            #expect(await Self.reason(folder + "/nowhere/s.sock").contains("No such file or directory"))
        }
    }

    @Test(
        "all paths stand below the base path, and nothing beside it",
        arguments: [
            ("/tocsin/healthz", 200), ("/tocsin/graphql", 405), ("/tocsin/nothing", 404), ("/healthz", 404),
            ("/graphql", 404), ("/tocsinhealthz", 404), ("/tocsin", 404), ("/", 404),
            ("/tocsin/graphql?query=%7Bme%7D", 401),
        ]
    )
    func basePath(path: String, status: Int) async throws {
        try await TestServer.with(settings: { $0.basePath = "/tocsin" }) { server in
            let client = try await server.connect()
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nApollo-Require-Preflight: 1\r\n\r\n")
            let answer = try await client.response()
            #expect(answer.status == status || status == 405 && answer.status == 401, "\(answer)")
            if status == 404 { #expect(answer.body.contains("/tocsin/graphql")) }
        }
    }

    @Test("sockets are opened below the base path")
    func socketBelow() async throws {
        try await TestServer.with(settings: { $0.basePath = "/tocsin" }) { server in
            for (path, status) in [("/tocsin/graphql", 101), ("/tocsin/graphql/realtime", 101), ("/graphql", 404)] {
                let client = try await server.connect()
                #expect(try await client.upgrade(path: path).status == status, "\(path)")
            }
        }
    }
}
