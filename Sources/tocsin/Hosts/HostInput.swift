import Glibc

/// Standard input, up to a limit.
enum HostInput {
    /// What of a longer input is still read, so that whoever writes it does not fail.
    private static let maximumIgnoredBytes = 64 << 20

    /// The first `maximumBytes`, and whether there was more.
    static func read(maximumBytes: Int) throws -> (bytes: [UInt8], isCut: Bool) {
        var bytes: [UInt8] = []
        var ignored = 0
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw CommandFailure("Standard input cannot be read: \(String(cString: strerror(errno))).")
            }
            let taken = min(count, maximumBytes - bytes.count)
            bytes += piece.prefix(taken)
            ignored += count - taken
            guard count > 0, ignored < maximumIgnoredBytes else { return (bytes, ignored > 0) }
        }
    }
}
