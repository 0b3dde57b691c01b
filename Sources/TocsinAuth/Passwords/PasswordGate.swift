import Encodings
import Glibc
import Synchronization
package import TocsinCore

/// Makes and checks passwords' hashes on a thread of its own: one after the other, for each takes
/// 0.1 s of a core and 32 MiB; some wait, and more are refused.
///
/// After a wrong password the thread rests, so that guesses take an eighth of the processors at
/// most. There is one gate for the process, so that the bounds are the node's.
package final class PasswordGate: PasswordHashing {
    /// How many may wait while one is worked on.
    package static let maximumWaiting = 32

    private struct Work: Sendable {
        /// Answers, and says whether the password was wrong.
        var run: @Sendable () -> Bool
        var refuse: @Sendable () -> Void
    }

    private struct State {
        var isRunning = false
        var waiting: [Work] = []
    }

    private let state = Mutex(State())
    /// How long the thread rests after a wrong password, in times of what that took.
    private let rest: Double

    /// A gate of a machine with so many processors, through which nobody goes yet.
    package init(processors: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN))) {
        rest = max(0, 8 / Double(max(1, processors)) - 1)
    }

    /// The text to store for a password; throws `limit` while too many wait.
    package func hash(_ password: String) async throws(ServiceError) -> String {
        let made = try await run { () -> Result<String, KeyError> in
            Result { () throws(KeyError) in try PasswordHash.make(password) }
        } isWrong: { _ in
            false
        }
        do throws(KeyError) {
            return try made.get()
        } catch {
            throw .badInput(error.description)
        }
    }

    /// Whether the password is the one stored as `text`; throws `limit` while too many wait.
    package func verify(_ password: String, against text: String) async throws(ServiceError) -> Bool {
        try await run {
            PasswordHash.verify(password, against: text)
        } isWrong: { isRight in
            !isRight
        }
    }

    /// 20 characters of 120 random bits.
    package func makePassword() -> String { Base64URL.encoded(RandomBytes.make(15)) }

    private func run<Value: Sendable>(
        _ work: @escaping @Sendable () -> Value,
        isWrong: @escaping @Sendable (Value) -> Bool
    ) async throws(ServiceError) -> Value {
        let value: Value? = await withCheckedContinuation { continuation in
            let work = Work(
                run: {
                    let value = work()
                    continuation.resume(returning: value)
                    return isWrong(value)
                },
                refuse: { continuation.resume(returning: nil) }
            )
            if !enter(work) { work.refuse() }
        }
        guard let value else {
            throw .limit("Too many passwords are being checked just now. Nothing was changed; try again in a second.")
        }
        return value
    }

    /// Begins work or lets it wait; false where too much waits, or the system has no thread.
    private func enter(_ work: Work) -> Bool {
        let begins = state.withLock { state -> Bool? in
            if !state.isRunning {
                state.isRunning = true
                return true
            }
            guard state.waiting.count < Self.maximumWaiting else { return nil }
            state.waiting.append(work)
            return false
        }
        guard let begins else { return false }
        guard begins else { return true }
        if startThread({ [self] in runAll(beginningWith: work) }) { return true }
        let left = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for work in left { work.refuse() }
        return false
    }

    private func runAll(beginningWith first: Work) {
        var next: Work? = first
        while let work = next {
            let begin = Self.spentSeconds()
            if work.run() { Self.sleep(seconds: rest * (Self.spentSeconds() - begin)) }
            next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.isRunning = false
                return nil
            }
        }
    }

    /// What this thread has had of a processor.
    private static func spentSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func sleep(seconds: Double) {
        usleep(UInt32(min(max(0, seconds), 1) * 1e6))
    }
}

/// Starts a thread that runs `body` once and ends; false when the system has none to give.
private func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let code = pthread_create(
        &thread,
        nil,
        { raw in
            guard let raw else { return nil }
            // Of this thread alone: whoever guesses passwords waits for others.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
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
