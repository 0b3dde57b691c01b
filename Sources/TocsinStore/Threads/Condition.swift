import Glibc
package import TocsinCore

/// A POSIX mutex and its condition variable: how threads wait for work.
///
/// `@unchecked`: the two pointers never change, and POSIX lets any thread use what they point to.
package final class Condition: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    /// Unlocked, with nobody waiting.
    package init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // Waits of a certain time go by the clock that nobody sets.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs what no other thread may do at the same time.
    package func withLock<Value>(_ body: () -> Value) -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Waits for a signal; only while locked.
    package func wait() { pthread_cond_wait(condition, mutex) }

    /// Waits for a signal or until the time is over; only while locked.
    package func wait(_ time: Duration) {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, fraction) = max(.zero, time).components
        end.tv_sec += Int(seconds)
        end.tv_nsec += Int(fraction / 1_000_000_000)
        if end.tv_nsec >= 1_000_000_000 {
            end.tv_sec += 1
            end.tv_nsec -= 1_000_000_000
        }
        pthread_cond_timedwait(condition, mutex, &end)
    }

    /// Wakes one thread that waits.
    package func signal() { pthread_cond_signal(condition) }

    /// Wakes all threads that wait.
    package func broadcast() { pthread_cond_broadcast(condition) }
}

/// Starts a thread that runs `body` once and ends; false when the system has no thread to give.
///
/// `name`, of at most 15 bytes, is what the system's tools show.
package func startThread(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(
        Box {
            nameThread(name)
            body()
        }
    )
    let code = pthread_create(
        &thread,
        nil,
        { raw in
            guard let raw else { return nil }
            Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().body()
            return nil
        },
        box.toOpaque()
    )
    guard code == 0 else {
        box.release()
        return false
    }
    pthread_detach(thread)
    return true
}

/// Runs blocking work on a thread of its own, so that the shared pool never waits for a disk.
package func withThread<Value: Sendable>(
    _ name: String,
    _ body: @escaping @Sendable () throws(StoreError) -> Value
) async throws(StoreError) -> Value {
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
        let isStarted = startThread(name) {
            continuation.resume(returning: Result { () throws(StoreError) in try body() })
        }
        if !isStarted {
            continuation.resume(returning: .failure(.unavailable(reason: "the system has no thread to give")))
        }
    }
    return try result.get()
}

/// Names the calling thread (proc(5), `comm`); a system without that file does without.
private func nameThread(_ name: String) {
    let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = write(descriptor, name, name.utf8.count)
    close(descriptor)
}
