import Foundation

/// CPU seconds of this process's threads by what they do, told from their
/// names (proc(5), `schedstat`).
struct ThreadUsage {
    /// By role, in the order in which they are printed.
    private var seconds: [(role: String, seconds: Double)] = []
    private static let roles = [("store-write", "writer"), ("store-read", "readers"), ("NIO-", "loop")]
    private static let others = "workers"

    /// What the threads have used so far.
    static func now() -> ThreadUsage {
        var usage = ThreadUsage()
        let folder = "/proc/self/task"
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard let name = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8),
                let times = try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8),
                let nanoseconds = times.split(separator: " ").first.flatMap({ Double($0) })
            else { continue }
            let role = roles.first { name.hasPrefix($0.0) }?.1 ?? others
            usage.add(role, nanoseconds / 1e9)
        }
        return usage
    }

    /// `writer 4.1, loop 2.8…`: microseconds each of so many operations since another look.
    func split(since start: ThreadUsage, operations: Int) -> String {
        seconds.map { role, now in
            let before = start.seconds.first { $0.role == role }?.seconds ?? 0
            return role + String(format: " %.2f", (now - before) * 1e6 / Double(max(1, operations)))
        }
        .sorted().joined(separator: ", ") + " µs"
    }

    private mutating func add(_ role: String, _ used: Double) {
        if let index = seconds.firstIndex(where: { $0.role == role }) {
            seconds[index].seconds += used
        } else {
            seconds.append((role, used))
        }
    }
}
