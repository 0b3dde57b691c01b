import Glibc
import Metrics
import TocsinCore

/// What the system knows of this process, by `/proc/self` and `getrusage` alone: a service manager
/// may hide the rest.
struct ProcessMetrics: MetricSource {
    let startedAt: Timestamp

    var families: [MetricFamily] {
        let memory = Self.pages
        return [
            .gauge(
                "tocsin_start_time_seconds",
                "When the server started, in Unix time; counters began at 0 then",
                Double(startedAt.milliseconds) / 1000
            ),
            MetricFamily(
                .counter,
                "process_cpu_seconds_total",
                "Processor time that the process has taken",
                [MetricSample(.number(Self.cpuSeconds))]
            ),
            .gauge("process_resident_memory_bytes", "Memory of the process that is resident", memory?.resident),
            .gauge("process_virtual_memory_bytes", "Address space of the process", memory?.size),
            .gauge("process_open_fds", "Open files and connections", Self.openFiles),
            .gauge("process_max_fds", "Files and connections that may be open", Self.mostFiles),
            .gauge("process_start_time_seconds", "When the process started, in Unix time", Self.startSeconds),
            .gauge("tocsin_memory_limit_bytes", "Memory that its control group allows", MemoryLimit.bytes),
        ]
    }

    private static var cpuSeconds: Double {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
        return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    }

    /// Whole address space and resident part, in bytes (proc(5), `statm`).
    private static var pages: (size: Int, resident: Int)? {
        let numbers = words(of: "/proc/self/statm").compactMap { Int($0) }
        guard numbers.count > 1 else { return nil }
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (numbers[0] * page, numbers[1] * page)
    }

    private static var openFiles: Int? {
        // Linux 6.2 and later count them there.
        var status = stat()
        if stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Itself, `.` and `..`.
        return max(0, count - 3)
    }

    private static var mostFiles: Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(clamping: limit.rlim_cur)
    }

    /// Field 22 of `stat` is in ticks since the system's start.
    private static var startSeconds: Double? {
        // The name before it, in brackets, may hold anything.
        guard let text = try? SystemFile.text(of: "/proc/self/stat"), let end = text.lastIndex(of: ")") else {
            return nil
        }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, let ticks = Double(fields[19]) else { return nil }
        let started = ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
        return seconds(CLOCK_REALTIME) - seconds(CLOCK_BOOTTIME) + started
    }

    private static func seconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func words(of path: String) -> [Substring] {
        ((try? SystemFile.text(of: path)) ?? "").split(whereSeparator: \.isWhitespace)
    }
}

/// The memory that the process's control group allows, with the groups above it.
enum MemoryLimit {
    /// nil where nothing limits it, or nobody says.
    static var bytes: Int? {
        guard let groups = try? SystemFile.text(of: "/proc/self/cgroup") else { return nil }
        // Version 2 has one line, `0::/path`.
        let path = groups.split(separator: "\n").first { $0.hasPrefix("0::") }?.dropFirst(3) ?? ""
        var folders = ["/sys/fs/cgroup"]
        for name in path.split(separator: "/") where name != ".." {
            folders.append(folders[folders.count - 1] + "/" + name)
        }
        let limits = folders.compactMap { limit($0 + "/memory.max") }
        return limits.min() ?? limit("/sys/fs/cgroup/memory/memory.limit_in_bytes")
    }

    /// `max` is no number, and version 1 writes none as more than any machine has.
    private static func limit(_ path: String) -> Int? {
        guard let text = try? SystemFile.text(of: path) else { return nil }
        let number = Int(text.prefix { $0.isNumber })
        return number.flatMap { $0 < 1 << 60 ? $0 : nil }
    }
}
