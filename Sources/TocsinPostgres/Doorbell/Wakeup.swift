import Glibc

/// A descriptor that another thread can make readable: a pipe with room for one byte that matters.
final class Wakeup: Sendable {
    let descriptor: Int32
    private let entrance: Int32

    /// nil when the system has no descriptors to give.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (descriptor, entrance) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(entrance)
    }

    /// A pipe that is full is readable all the same.
    func signal() {
        var byte: UInt8 = 1
        _ = write(entrance, &byte, 1)
    }

    func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }

    /// Waits for a signal or until the time is over, and leaves the signal for whoever looks next.
    func wait(milliseconds: Int32) {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&descriptor, 1, milliseconds)
    }
}
