import Foundation

/// What one measurement gave.
struct Figures: Sendable {
    var name: String
    var operations: Int
    var seconds: Double
    /// CPU seconds of the process measured, load generator excluded where it is another process.
    var cpuSeconds: Double
    /// Resident memory of that process at its highest, in bytes; nil where not measured.
    var memoryBytes: Int?

    var perSecond: Double { Double(operations) / seconds }
    var cpuMicroseconds: Double { cpuSeconds * 1_000_000 / Double(max(1, operations)) }

    /// One line; with a floor, the ratios to it.
    func printed(floor: Figures? = nil) -> String {
        var line =
            Self.padded(name, 44) + Self.padded(String(format: "%.0f/s", perSecond), 14)
            + Self.padded(String(format: "%.2f µs CPU each", cpuMicroseconds), 22)
        if let memoryBytes { line += Self.padded(String(format: "%.1f MB", Double(memoryBytes) / 1_048_576), 12) }
        if let floor {
            line += String(
                format: "%.2f of the floor's rate, %.1f times its CPU",
                perSecond / floor.perSecond,
                cpuMicroseconds / floor.cpuMicroseconds
            )
        }
        return line
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}

/// CPU time and memory, of this process and of others.
///
/// Swift sees getrusage's 0 (self) and -1 (children) as numbers only.
enum ProcessUsage {
    /// CPU seconds of this process.
    static func ownCPU() -> Double {
        var usage = rusage()
        getrusage(0, &usage)
        return seconds(usage)
    }

    /// CPU seconds of children that have ended and were waited for.
    static func childrenCPU() -> Double {
        var usage = rusage()
        getrusage(-1, &usage)
        return seconds(usage)
    }

    /// CPU seconds of a running process (proc(5), fields 14 and 15 of `stat`).
    static func cpu(of pid: Int32) throws -> Double {
        let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        let fields = (text.split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchFailure("/proc/\(pid)/stat cannot be read")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Resident memory at its highest, in bytes (proc(5), `VmHWM`).
    static func peakMemory(of pid: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// Resident memory of a running process now, in bytes (proc(5), `statm`).
    static func memory(of pid: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Lets this process's peak begin anew, where the system allows it (proc(5), `clear_refs`).
    static func resetOwnPeakMemory() {
        guard let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs") else { return }
        try? file.write(contentsOf: Data("5".utf8))
        try? file.close()
    }

    private static func seconds(_ usage: rusage) -> Double {
        Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
    }
}

/// Prints a line at once, through a pipe too: a measurement takes long.
func tell(_ line: String) {
    print(line)
    fflush(nil)
}
