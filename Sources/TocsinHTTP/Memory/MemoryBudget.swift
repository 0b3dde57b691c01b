import Encodings
import Synchronization

/// Whose memory it is: a user's, or that of an address whose user is not known.
enum MemoryHolder: Sendable, Hashable {
    case owner(String)
    case address(IPAddress?)
}

/// Counts the bytes that requests, answers and queues hold, for each holder and for all.
final class MemoryBudget: Sendable {
    fileprivate struct State {
        var total = 0
        var held: [MemoryHolder: Int] = [:]
    }

    private let state = Mutex(State())
    private let maximumOfHolder: Int
    private let maximum: Int

    init(ofHolder: Int, ofAll: Int) {
        maximumOfHolder = ofHolder
        maximum = ofAll
    }

    /// How many bytes are held.
    var total: Int { state.withLock { $0.total } }

    /// Takes back what was held and gives what is to be; false, changing nothing, where
    /// that is more than may be.
    fileprivate func change(_ old: MemoryShare.Held, to new: MemoryShare.Held) -> Bool {
        state.withLock { state in
            let before = old.holder == new.holder ? old.bytes : 0
            if new.bytes > before {
                guard state.held[new.holder, default: 0] - before + new.bytes <= maximumOfHolder,
                    state.total - old.bytes + new.bytes <= maximum
                else { return false }
            }
            state.add(-old.bytes, to: old.holder)
            state.add(new.bytes, to: new.holder)
            return true
        }
    }
}

extension MemoryBudget.State {
    fileprivate mutating func add(_ bytes: Int, to holder: MemoryHolder) {
        guard bytes != 0 else { return }
        total += bytes
        let sum = held[holder, default: 0] + bytes
        held[holder] = sum > 0 ? sum : nil
    }
}

/// What one request, one connection's answers or one queue has of a budget; given
/// back when it is forgotten.
final class MemoryShare: Sendable {
    fileprivate struct Held {
        var holder: MemoryHolder
        var bytes: Int
    }

    /// What is no more than this is not counted, so that small requests and answers pay nothing.
    static let freeBytes = 8192

    private let budget: MemoryBudget
    private let held = Mutex(Held(holder: .address(nil), bytes: 0))

    init(_ budget: MemoryBudget) { self.budget = budget }

    deinit { give(back: held.withLock { $0 }) }

    /// Holds so many bytes from now on, no longer what it held before; false, changing nothing,
    /// where they are too many.
    func hold(_ bytes: Int, for holder: MemoryHolder) -> Bool {
        held.withLock { held in
            let new = Held(holder: holder, bytes: bytes > Self.freeBytes ? bytes : 0)
            if new.bytes == held.bytes, new.bytes == 0 || holder == held.holder { return true }
            guard budget.change(held, to: new) else { return false }
            held = new
            return true
        }
    }

    private func give(back held: Held) {
        guard held.bytes > 0 else { return }
        _ = budget.change(held, to: Held(holder: held.holder, bytes: 0))
    }
}
