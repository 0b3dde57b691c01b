import Glibc

/// How many files and connections the system lets this process have open.
enum OpenFiles {
    /// What the server has open beside its clients' connections.
    private static let ownFiles = 256

    /// Raises the limit as far as the system allows; answers what to do if that is too little for so many connections.
    static func raise(for connections: Int) -> String? {
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
