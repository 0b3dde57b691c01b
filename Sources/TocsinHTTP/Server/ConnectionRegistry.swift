import Encodings
import Metrics
import NIOCore
import Synchronization

/// A connection that is served, and how it stands when there are too many.
final class ConnectionRegistration: Sendable {
    /// Who goes first where connections run short.
    enum Standing: UInt8, AtomicRepresentable {
        /// Something is done for it: it stays.
        case busy
        /// It waits for the next request of somebody who was let in.
        case known
        /// It waits for a request, and nobody has been let in: it goes first.
        case stranger
    }

    let channel: any Channel
    fileprivate let slot: Int
    private let present = Atomic(Standing.stranger)

    fileprivate init(_ channel: any Channel, slot: Int) {
        self.channel = channel
        self.slot = slot
    }

    /// Set by the connection on its loop; looked at from any.
    var standing: Standing {
        get { present.load(ordering: .relaxed) }
        set { present.store(newValue, ordering: .relaxed) }
    }
}

/// A connection that is open when the server stops.
struct OpenConnection {
    let channel: any Channel
    /// Whether something is done for it, as for every socket.
    let isBusy: Bool
}

/// The open connections, counted, by address too, and reachable for the stop.
final class ConnectionRegistry: Sendable {
    /// What may happen to one more connection.
    enum Admission {
        /// It is served.
        case welcome(ConnectionRegistration)
        /// There are too many, or the server stops: it is told so.
        case refused
        /// There are far too many: it is closed without a word.
        case dropped
    }

    fileprivate struct Slot {
        var registration: ConnectionRegistration
        /// For whom it is counted.
        var address: IPAddress?
    }

    fileprivate struct State {
        var slots: [Slot?] = []
        var freeSlots: [Int] = []
        var countOfAddress: [IPAddress: Int] = [:]
        var refused: [ObjectIdentifier: any Channel] = [:]
        var lastNumber = 0
        var isStopping = false
        /// Answers are the last of their connections; new ones are still taken.
        var isDraining = false
        /// Where the next search for one that can go begins, so that the oldest of them go first.
        var hand = 0

        var count: Int { slots.count - freeSlots.count }

        var channels: [any Channel] { slots.compactMap { $0?.registration.channel } + refused.values }
    }

    private let state = Mutex(State())
    private let limit: Int
    private let limitOfAddress: Int
    private let refusalsAtOnce = 64
    private let metrics: HTTPMetrics?

    init(limit: Int, limitOfAddress: Int, metrics: HTTPMetrics? = nil) {
        self.metrics = metrics
        self.limit = limit
        self.limitOfAddress = limitOfAddress
    }

    /// Whether no more connections are taken.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether no more requests should come over the connections that are open.
    var isEnding: Bool { state.withLock { $0.isStopping || $0.isDraining } }

    /// How many connections are open.
    var count: Int { state.withLock { $0.count + $0.refused.count } }

    /// The open connections.
    var channels: [any Channel] { state.withLock { $0.channels } }

    /// A number that no other connection has.
    func nextNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Takes the connection in, counted for this address, if need be in place of an idle one.
    func admit(_ channel: any Channel, from address: IPAddress?) -> Admission {
        let (admission, leaver) = state.withLock { state -> (Admission, ConnectionRegistration?) in
            guard !state.isStopping else { return (state.refuse(channel, atMost: refusalsAtOnce), nil) }
            let hasShare = address.map { state.countOfAddress[$0, default: 0] < limitOfAddress } ?? true
            if hasShare, state.count < limit { return (.welcome(state.seat(channel, address)), nil) }
            guard let leaver = state.removeIdle(of: hasShare ? nil : address) else {
                return (state.refuse(channel, atMost: refusalsAtOnce), nil)
            }
            return (.welcome(state.seat(channel, address)), leaver)
        }
        leaver?.channel.close(mode: .all, promise: nil)
        switch admission {
        case .welcome(let registration):
            metrics?.connectionOpened()
            channel.closeFuture.whenComplete { _ in
                self.forget(registration)
                self.metrics?.connections.add(-1)
            }
        case .refused: channel.closeFuture.whenComplete { _ in self.forgetRefused(channel) }
        case .dropped: metrics?.refused[.connections].add()
        }
        return admission
    }

    /// Counts a proxy's connection for the client that it names now; false where
    /// that client has its share.
    func count(_ registration: ConnectionRegistration, as address: IPAddress) -> Bool {
        let (isCounted, leaver) = state.withLock { state -> (Bool, ConnectionRegistration?) in
            guard let slot = state.slots[registration.slot], slot.registration === registration else {
                return (false, nil)
            }
            if slot.address == address { return (true, nil) }
            var leaver: ConnectionRegistration?
            if state.countOfAddress[address, default: 0] >= limitOfAddress {
                leaver = state.removeIdle(of: address)
                guard leaver != nil else { return (false, nil) }
            }
            state.count(-1, slot.address)
            state.count(1, address)
            state.slots[registration.slot]?.address = address
            return (true, leaver)
        }
        leaver?.channel.close(mode: .all, promise: nil)
        return isCounted
    }

    /// Asks clients for other connections from now on, and still takes them.
    func drain() { state.withLock { $0.isDraining = true } }

    /// Turns new connections away from now on.
    ///
    /// - Returns: the connections that are open.
    func stop() -> [OpenConnection] {
        state.withLock { state in
            state.isStopping = true
            let served = state.slots.compactMap { $0?.registration }.map { registration in
                OpenConnection(channel: registration.channel, isBusy: registration.standing == .busy)
            }
            return served + state.refused.values.map { OpenConnection(channel: $0, isBusy: false) }
        }
    }

    private func forget(_ registration: ConnectionRegistration) {
        state.withLock { state in
            if state.slots[registration.slot]?.registration === registration { state.remove(registration.slot) }
        }
    }

    private func forgetRefused(_ channel: any Channel) {
        state.withLock { $0.refused[ObjectIdentifier(channel)] = nil }
    }
}

extension ConnectionRegistry.State {
    /// Connections that are looked at for one that can go.
    private static var maximumLooks: Int { 1024 }

    fileprivate mutating func seat(_ channel: any Channel, _ address: IPAddress?) -> ConnectionRegistration {
        let index = freeSlots.popLast() ?? slots.count
        let registration = ConnectionRegistration(channel, slot: index)
        if index == slots.count { slots.append(nil) }
        slots[index] = ConnectionRegistry.Slot(registration: registration, address: address)
        count(1, address)
        return registration
    }

    fileprivate mutating func refuse(_ channel: any Channel, atMost most: Int) -> ConnectionRegistry.Admission {
        guard refused.count < most else { return .dropped }
        refused[ObjectIdentifier(channel)] = channel
        return .refused
    }

    fileprivate mutating func remove(_ index: Int) {
        count(-1, slots[index]?.address)
        slots[index] = nil
        freeSlots.append(index)
    }

    fileprivate mutating func count(_ change: Int, _ address: IPAddress?) {
        guard let address else { return }
        let count = countOfAddress[address, default: 0] + change
        countOfAddress[address] = count > 0 ? count : nil
    }

    /// Takes an idle connection out, of this address if one is given: of a stranger, else of
    /// somebody who was let in.
    fileprivate mutating func removeIdle(of address: IPAddress?) -> ConnectionRegistration? {
        var known: Int?
        for _ in 0..<min(slots.count, Self.maximumLooks) {
            hand = hand + 1 < slots.count ? hand + 1 : 0
            guard let slot = slots[hand], address == nil || slot.address == address else { continue }
            switch slot.registration.standing {
            case .busy: continue
            case .known: known = known ?? hand
            case .stranger:
                remove(hand)
                return slot.registration
            }
        }
        guard let known, let slot = slots[known] else { return nil }
        remove(known)
        return slot.registration
    }
}

/// Tells the handlers of a connection that somebody, perhaps theirs, has lost access.
struct AccessEnds: Sendable {}

/// Tells the handlers of a connection that the server stops.
struct ServerStops: Sendable {
    /// When a socket or an event stream is told, from now on.
    let delay: TimeAmount
}
