import Synchronization

// The turns in which stored responses are left, one at a time for a connection.
extension SocketQueue {
    /// Who waits for a turn.
    struct TurnWaiter: Sendable {
        let ticket: Int
        /// Whose turn it will be.
        let number: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    /// Runs `body` when it is this subscription's turn; false, without running it, when the queue
    /// is closed or the task is cancelled.
    func turn(of number: Int, _ body: () async -> Bool) async -> Bool {
        guard await beginTurn(of: number) else { return false }
        defer { endTurn() }
        return await body()
    }

    /// Waits, in a turn, until the item has room, the queue is closed or the task is cancelled.
    func room(for item: Item) async {
        let hasRoom = { (state: borrowing State) in
            state.receiver == nil || state.stored.takes(item.size, within: self.maximumStored)
        }
        // Nearly always there is some.
        if state.withLock({ hasRoom($0) }) { return }
        let ticket = makeTicket()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if hasRoom(state) || Task.isCancelled { return true }
                    state.waiters[ticket] = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
        }
    }

    /// Waits, in a turn, until all that was left in turns is written or the queue is closed.
    func allTaken() async {
        let isTaken = { (state: borrowing State) in state.receiver == nil || state.stored.items == 0 }
        if state.withLock({ isTaken($0) }) { return }
        let ticket = makeTicket()
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if isTaken(state) { return true }
                state.waiters[ticket] = continuation
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// Everything taken so far has been written.
    func allWritten() {
        let waiters = state.withLock { state -> [Int: CheckedContinuation<Void, Never>] in
            guard state.load.items == 0 else { return [:] }
            state.stored = Load()
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// What was left in turns and is not written yet.
    var stored: Load { state.withLock { $0.stored } }

    private func beginTurn(of number: Int) async -> Bool {
        let ticket = makeTicket()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.receiver == nil || Task.isCancelled { return false }
                    guard state.holder != nil else {
                        state.holder = number
                        return true
                    }
                    state.line.append(TurnWaiter(ticket: ticket, number: number, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.line.firstIndex { $0.ticket == ticket }.map { state.line.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    /// Gives the turn to the next in line.
    private func endTurn() {
        let next = state.withLock { state in
            let next = state.line.isEmpty ? nil : state.line.removeFirst()
            state.holder = next?.number
            return next
        }
        next?.continuation.resume(returning: true)
    }

    private func makeTicket() -> Int {
        state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
    }
}
