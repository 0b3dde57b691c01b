/// The running operations of one connection, and the pongs that wait for their registration; the
/// same for every protocol.
struct OperationSlots: Sendable {
    struct Operation {
        let number: Int
        /// What the client calls it.
        let id: String
        /// What comes before the payload of each response.
        let nextHead: [UInt8]
        /// Whether it runs for somebody else than the connection's caller.
        let hasOwnCredentials: Bool
        var isRegistering = true
        /// Whether it has brought all that was stored before it began.
        var isCaughtUp = false
        /// What is sent when it has.
        var atCatchingUp: Pong?
    }

    enum Fault: Error, Equatable {
        /// An operation of this id runs already.
        case idInUse
        /// This many operations run already, which is the most.
        case full(Int)
    }

    enum Pong {
        /// The protocol's own answer.
        case message(SocketMessage)
        case frame([UInt8])
    }

    private let maximum: Int
    private var numbers: [String: Int] = [:]
    private var operations: [Int: Operation] = [:]
    private var lastNumber = 0
    /// Pongs that wait until no operation up to this number is registering.
    private var heldPongs: [(upTo: Int, pong: Pong)] = []

    init(maximum: Int) { self.maximum = maximum }

    var isEmpty: Bool { operations.isEmpty }

    subscript(number: Int) -> Operation? { operations[number] }

    /// The running operation the client calls so.
    func operation(named id: String) -> Operation? { numbers[id].flatMap { operations[$0] } }

    /// The numbers of operations that run for the connection's caller, in their order.
    var ofConnectionsCaller: [Int] { operations.values.filter { !$0.hasOwnCredentials }.map(\.number).sorted() }

    /// All running operations in their order.
    var inOrder: [Operation] { operations.values.sorted { $0.number < $1.number } }

    /// Takes a slot; the number is never used again.
    mutating func open(_ id: String, nextHead: [UInt8], hasOwnCredentials: Bool = false) throws(Fault) -> Int {
        guard numbers[id] == nil else { throw .idInUse }
        guard operations.count < maximum else { throw .full(operations.count) }
        lastNumber += 1
        numbers[id] = lastNumber
        operations[lastNumber] = Operation(
            number: lastNumber,
            id: id,
            nextHead: nextHead,
            hasOwnCredentials: hasOwnCredentials
        )
        return lastNumber
    }

    /// Frees the slot.
    mutating func close(_ number: Int) -> Operation? {
        guard let operation = operations.removeValue(forKey: number) else { return nil }
        numbers[operation.id] = nil
        return operation
    }

    mutating func closeAll() {
        operations = [:]
        numbers = [:]
        heldPongs = []
    }

    /// The operation is live; says whether it still has a slot.
    mutating func registered(_ number: Int) -> Bool {
        operations[number]?.isRegistering = false
        return operations[number] != nil
    }

    /// The operation has brought all that was stored before.
    mutating func caughtUp(_ number: Int) -> [SessionAction] {
        operations[number]?.isCaughtUp = true
        guard let pong = operations[number]?.atCatchingUp else { return [] }
        operations[number]?.atCatchingUp = nil
        return [Self.action(for: pong)]
    }

    /// Sends a pong when the operation the client calls so has brought what was stored before: at
    /// once where it has, or where there is no such operation; the last one asked for counts.
    mutating func answer(_ pong: Pong, whenCaughtUp id: String) -> [SessionAction] {
        guard let operation = operation(named: id), !operation.isCaughtUp else { return [Self.action(for: pong)] }
        operations[operation.number]?.atCatchingUp = pong
        return []
    }

    /// Sends a pong now, or holds it while subscriptions asked for before are registering, so that
    /// a client can wait for "it is live".
    mutating func answer(_ pong: Pong) -> [SessionAction] {
        guard heldPongs.isEmpty, !operations.values.contains(where: \.isRegistering) else {
            // Whoever sends more pings than this without waiting loses the oldest answers.
            if heldPongs.count >= 32 { heldPongs.removeFirst() }
            heldPongs.append((upTo: lastNumber, pong: pong))
            return []
        }
        return [Self.action(for: pong)]
    }

    /// The pongs that need not wait any longer.
    mutating func releasePongs() -> [SessionAction] {
        guard !heldPongs.isEmpty else { return [] }
        let firstRegistering = operations.values.lazy.filter(\.isRegistering).map(\.number).min() ?? Int.max
        let free = heldPongs.prefix { $0.upTo < firstRegistering }
        heldPongs.removeFirst(free.count)
        return free.map { Self.action(for: $0.pong) }
    }

    private static func action(for pong: Pong) -> SessionAction {
        switch pong {
        case .message(let message): .send(message)
        case .frame(let payload): .pongFrame(payload)
        }
    }
}
