import Foundation
import Glibc
import Synchronization
import Testing
import TocsinServer

@Suite("Notes to the service manager", .timeLimit(.minutes(5)))
struct ServiceNotifierTests {
    /// A socket of datagrams at an address as `NOTIFY_SOCKET` writes it.
    private final class Manager {
        private let descriptor: Int32
        private let path: String

        init(_ path: String) throws {
            self.path = path
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let name = path.hasPrefix("@") ? [0] + path.utf8.dropFirst() : Array(path.utf8) + [0]
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
            let status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            try #require(status == 0, "\(String(cString: strerror(errno)))")
        }

        deinit {
            close(descriptor)
            unlink(path)
        }

        /// The next note, which is there already.
        func next() -> String {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
    }

    @Test("notes are what sd_notify(3) describes, at a path and at an abstract address", arguments: ["/tmp/", "@"])
    func notes(prefix: String) throws {
        let path = prefix + "tocsin-" + UUID().uuidString
        let manager = try Manager(path)
        let notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": path])
        notifier.extendTimeout(.seconds(60))
        #expect(manager.next() == "EXTEND_TIMEOUT_USEC=60000000")
        notifier.ready()
        #expect(manager.next() == "READY=1")
        notifier.status("3 connections\nREADY=1")
        #expect(manager.next() == "STATUS=3 connections READY=1", "a line of a status is no note of its own")
        notifier.reloading()
        #expect(manager.next().wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=[1-9]\d*/) != nil)
        notifier.stopping()
        #expect(manager.next().hasPrefix("STOPPING=1\n"))
    }

    @Test(
        "an address that cannot be used is told once, and stops nothing",
        arguments: [
            "relative", "/tmp/nobody-listens-here-" + UUID().uuidString, "/" + String(repeating: "x", count: 200),
        ]
    )
    func badAddress(path: String) {
        let said = Mutex<[String]>([])
        let notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": path]) { text in said.withLock { $0.append(text) }
        }
        notifier.ready()
        notifier.stopping()
        #expect(said.withLock { $0.count } == 1)
    }

    @Test("a sign of life comes only while the server works; what it does is told all the same")
    func watchdog() async throws {
        let path = "@tocsin-" + UUID().uuidString
        let manager = try Manager(path)
        let environment = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "\(getpid())"]
        let works = Mutex(false)
        let reports = ServiceReports(notifier: ServiceNotifier(environment: environment), time: SystemTime()) {
            works.withLock { $0 }
        } status: {
            "2 connections"
        }
        let running = Task { await reports.run() }
        var notes: [String] = []
        while notes.count < 3 || notes.last?.contains("WATCHDOG=1") != true {
            let note = manager.next()
            if note.isEmpty { try await Task.sleep(for: .milliseconds(1)) } else { notes.append(note) }
            if notes.count == 3 { works.withLock { $0 = true } }
        }
        running.cancel()
        await running.value
        #expect(notes.prefix(3) == ["STATUS=2 connections", "STATUS=2 connections", "STATUS=2 connections"])
        #expect(notes.last == "WATCHDOG=1\nSTATUS=2 connections")
    }

    @Test("without a manager nothing is said")
    func nobody() {
        ServiceNotifier(environment: [:]) { Issue.record("\($0)") }.ready()
    }

    @Test(
        "sockets that are meant for another process are left alone",
        arguments: [[:], ["LISTEN_FDS": "1"], ["LISTEN_FDS": "1", "LISTEN_PID": "1"]]
    )
    func othersSockets(environment: [String: String]) throws {
        #expect(try ActivatedSockets(environment: environment).take(name: "http") == nil)
    }

    @Test("a number of sockets that is none stops the start", arguments: ["x", "-1", "65", "99999999999"])
    func badCount(text: String) {
        #expect(throws: StartError.self) {
            try ActivatedSockets(environment: ["LISTEN_FDS": text, "LISTEN_PID": "\(getpid())"])
        }
    }
}
