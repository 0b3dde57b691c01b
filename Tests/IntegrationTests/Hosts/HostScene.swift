import Foundation
import Glibc
import JSON
import Synchronization

/// A host with a spool, a key and a server that keeps what it is sent.
final class HostScene {
    let folder: String
    /// 32 characters, as keys have.
    static let key = "abcdefghijklmnopqrstuvwxyz234567"

    private init() throws {
        folder = NSTemporaryDirectory() + "tocsin-host-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try (Self.key + "\n").write(toFile: keyFile, atomically: true, encoding: .utf8)
    }

    /// Gives a test a host of its own, whose folder stays when the test fails.
    static func run(_ body: (HostScene) async throws -> Void) async throws {
        let scene = try HostScene()
        do {
            try await body(scene)
        } catch {
            throw HarnessFailure("\(error) (the folder is \(scene.folder))")
        }
        try FileManager.default.removeItem(atPath: scene.folder)
    }

    var spool: String { folder + "/spool" }
    var keyFile: String { folder + "/key" }

    /// Names of what lies in the spool, or in a folder below it.
    func waiting(_ below: String = "") -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: spool + below)) ?? []
        return names.filter { $0.hasSuffix(".post") }.sorted()
    }

    /// A port at which nobody listens: it is taken, for the life of the tests, so that no other
    /// test's server comes to be there.
    static func closedPort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
            }
        }
        guard code == 0 else { throw HarnessFailure("No port can be taken.") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Starts a command of the host, which finds its server, key and spool.
    func start(
        _ arguments: [String],
        port: Int,
        input: String? = nil,
        environment: [String: String] = [:],
        program: String? = nil
    ) throws -> ChildProcess {
        var inputPath = "/dev/null"
        if let input {
            inputPath = folder + "/" + UUID().uuidString + ".in"
            try input.write(toFile: inputPath, atomically: true, encoding: .utf8)
        }
        let usual = ["TOCSIN_URL": "http://127.0.0.1:\(port)", "TOCSIN_KEY_FILE": keyFile]
        return try ChildProcess(
            try program ?? TestBinary.path(),
            arguments,
            environment: TestBinary.environment.merging(usual) { $1 }.merging(environment) { $1 },
            folder: folder,
            inputPath: inputPath
        )
    }

    /// Runs a command of the host to its end.
    @discardableResult
    func tocsin(
        _ arguments: [String],
        port: Int,
        input: String? = nil,
        environment: [String: String] = [:],
        program: String? = nil
    ) async throws -> (status: Int32, output: String, errors: String) {
        let process = try start(arguments, port: port, input: input, environment: environment, program: program)
        let status = try await process.untilExit()
        return (status, process.output, process.errors)
    }

    /// Sends an event with this title, through the spool.
    @discardableResult
    func event(_ title: String, port: Int) async throws -> (status: Int32, output: String, errors: String) {
        try await tocsin(["event", "trigger", "--key", title, "--title", title, "--spool", spool], port: port)
    }

    /// Sends what waits until nothing does, however slow the machine is.
    func flush(port: Int) async throws {
        try await eventually("nothing waits in \(spool)") {
            _ = try await tocsin(["event", "flush", "--spool", spool], port: port)
            return waiting().isEmpty
        }
    }

    /// Puts posts in the spool that no command has written, in order, each with its title.
    func fill(_ titles: [String], port: Int) throws {
        try FileManager.default.createDirectory(atPath: spool, withIntermediateDirectories: true)
        for (number, title) in titles.enumerated() {
            let head: JSONValue = [
                "server": .string("http://127.0.0.1:\(port)"), "keyFile": .string(keyFile), "path": "/in/event",
                "contentType": "application/json",
            ]
            let body: JSONValue = ["action": "trigger", "key": .string(title), "title": .string(title)]
            let digits = String(number + 1)
            let name = String(repeating: "0", count: 20 - digits.count) + digits + ".post"
            try "\(head.serializedString())\n\(body.serializedString())"
                .write(toFile: spool + "/" + name, atomically: false, encoding: .utf8)
        }
    }
}

extension Receiver {
    /// The titles of the events that came, in order, repeats included.
    var titles: [String] { events.map { $0["title"]?.stringValue ?? "" } }

    /// The events that came, in order.
    var events: [JSONValue] {
        requests("/in/event").map { (try? JSONParser.parse($0.body)) ?? .null }
    }

    /// The requests whose path has this part.
    func requests(matching part: String) -> [Request] { everything.filter { $0.path.contains(part) } }

    /// The mails that came, in order.
    var mails: [String] { requests("/in/mail").map { String(decoding: $0.body, as: UTF8.self) } }
}
