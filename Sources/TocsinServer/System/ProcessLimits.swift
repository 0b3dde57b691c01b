import CMalloc
import Glibc

/// What the system and its C library are asked for at the start.
enum ProcessLimits {
    /// Blocks of at least so many bytes are the system's again as soon as they are free.
    private static let largeBlock: Int32 = 128 * 1024
    /// Files and connections that the server has open beside its clients' connections.
    private static let ownFiles = 256

    /// Keeps glibc from raising that size by itself, as it does when large blocks come and go.
    ///
    /// Otherwise one request for large messages would leave the process larger for good.
    static func giveBackLargeBlocks() { _ = mallopt(M_MMAP_THRESHOLD, largeBlock) }

    /// Raises the limit of open files as far as the system allows; answers what to do if that
    /// is too little for so many connections.
    static func raiseOpenFiles(for connections: Int) -> String? {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return nil }
        let wanted = rlim_t(connections + ownFiles)
        guard limit.rlim_cur < wanted else { return nil }
        limit.rlim_cur = min(limit.rlim_max, wanted)
        guard setrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return nil }
        return "The system allows \(limit.rlim_cur) open files, too few for \(connections) connections. "
            + "Raise the limit (ulimit -n, LimitNOFILE) to \(wanted), or lower TOCSIN_CONNECTIONS."
    }
}
