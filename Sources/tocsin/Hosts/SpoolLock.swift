import Glibc

/// A lock between processes that ends with its process, however that ends.
final class SpoolLock: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// The lock of a file, which is made where it is missing; nil: another process has it.
    static func take(_ path: String) throws(Spool.Failure) -> SpoolLock? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o660)
        guard descriptor >= 0 else { throw .ofSystem("\(path) cannot be opened") }
        // The group of the spool's folder takes part, whatever the umask says; only the owner of
        // the file can say so.
        fchmod(descriptor, 0o660)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let failure: Spool.Failure? = errno == EWOULDBLOCK ? nil : .ofSystem("\(path) cannot be locked")
            close(descriptor)
            if let failure { throw failure }
            return nil
        }
        return SpoolLock(descriptor: descriptor)
    }

    /// The lock as soon as it is free.
    static func wait(_ path: String, until deadline: ContinuousClock.Instant) async throws(Spool.Failure) -> SpoolLock {
        while true {
            if let lock = try take(path) { return lock }
            guard ContinuousClock.now < deadline else {
                throw .unusable(reason: "another process has held \(path) for too long")
            }
            // Cut short by a cancellation only, after which the lock is looked at once more.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
