import Encodings
import Glibc
import Synchronization
package import TocsinCore

/// Makes and checks passwords' hashes on threads of their own: a few at once, for each takes 0.1 s
/// of a core and 32 MiB; some wait, and more are refused.
///
/// There is one for the process, so that the bounds are the node's.
package final class PasswordGate: PasswordHashing {
    /// How many are worked on at once.
    package static let maximumRunning = 4
    /// How many may wait for that.
    package static let maximumWaiting = 32

    private struct Work: Sendable {
        var run: @Sendable () -> Void
        var refuse: @Sendable () -> Void
    }

    private struct State {
        var running = 0
        var waiting: [Work] = []
    }

    private let state = Mutex(State())

    /// A gate through which nobody goes yet.
    package init() {}

    /// The text to store for a password; throws `limit` while too many wait.
    package func hash(_ password: String) async throws(ServiceError) -> String {
        let made = try await run { () -> Result<String, KeyError> in
            Result { () throws(KeyError) in try PasswordHash.make(password) }
        }
        do throws(KeyError) {
            return try made.get()
        } catch {
            throw .badInput(error.description)
        }
    }

    /// Whether the password is the one stored as `text`; throws `limit` while too many wait.
    package func verify(_ password: String, against text: String) async throws(ServiceError) -> Bool {
        try await run { PasswordHash.verify(password, against: text) }
    }

    /// 20 characters of 120 random bits.
    package func makePassword() -> String { Base64URL.encoded(RandomBytes.make(15)) }

    private func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async throws(ServiceError) -> Value {
        let value: Value? = await withCheckedContinuation { continuation in
            let work = Work(
                run: { continuation.resume(returning: work()) },
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
            if state.running < Self.maximumRunning {
                state.running += 1
                return true
            }
            guard state.waiting.count < Self.maximumWaiting else { return nil }
            state.waiting.append(work)
            return false
        }
        guard let begins else { return false }
        guard begins else { return true }
        if startThread({ [self] in runAll(beginningWith: work) }) { return true }
        // What waits is taken by the threads there are, if there are any.
        let left = state.withLock { state -> [Work] in
            state.running -= 1
            defer { if state.running == 0 { state.waiting = [] } }
            return state.running == 0 ? state.waiting : []
        }
        for work in left { work.refuse() }
        return false
    }

    private func runAll(beginningWith first: Work) {
        var next: Work? = first
        while let work = next {
            work.run()
            next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.running -= 1
                return nil
            }
        }
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
