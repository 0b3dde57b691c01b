import NIOCore

/// The one deadline of a connection, cheap to move: a timer is scheduled anew only when the
/// deadline comes nearer, or when the timer runs out early.
///
/// Confined to its event loop.
final class ConnectionDeadline {
    private let loop: any EventLoop
    private var due: NIODeadline?
    private var timer: (at: NIODeadline, scheduled: Scheduled<Void>)?
    /// What is called when the deadline has passed; kept until the end, so that it need not
    /// be made for each deadline.
    private var expired: (() -> Void)?

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Calls `expired` after this time unless the deadline is moved or cleared before.
    func set(milliseconds: Int, _ expired: @escaping () -> Void) {
        self.expired = expired
        move(milliseconds: milliseconds)
    }

    /// Sets another deadline for what was to be called at the last one.
    func move(milliseconds: Int) {
        let due = NIODeadline.now() + .milliseconds(Int64(milliseconds))
        self.due = due
        if let timer, timer.at <= due { return }
        schedule(at: due)
    }

    /// Forgets the deadline; the timer is left to run out.
    func clear() { due = nil }

    /// Forgets the deadline and its timer.
    func cancel() {
        clear()
        expired = nil
        timer?.scheduled.cancel()
        timer = nil
    }

    private func schedule(at time: NIODeadline) {
        timer?.scheduled.cancel()
        timer = (time, loop.assumeIsolated().scheduleTask(deadline: time) { self.timerRanOut() })
    }

    private func timerRanOut() {
        timer = nil
        guard let due else { return }
        guard due <= .now() else { return schedule(at: due) }
        clear()
        expired?()
    }
}
