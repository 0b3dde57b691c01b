/// A key store in memory, for tests and previews: what it holds ends with it.
///
/// `isLocked` and `confirms` stand for the phone's lock and for the person who is asked.
public actor MemoryKeyStore: KeyStore {
    private struct Entry {
        var key: [UInt8]
        var protection: KeyProtection
    }

    private var entries: [KeyName: Entry] = [:]
    private var isLocked = false
    private var confirms = true
    /// The reasons that a person was shown, in order.
    public private(set) var questions: [String] = []

    /// A store without keys, of an unlocked device whose person confirms.
    public init() {}

    /// Plays a device that was not unlocked since its start, or one that was.
    public func setLocked(_ isLocked: Bool) { self.isLocked = isLocked }

    /// Says what the person answers from now on.
    public func setConfirms(_ confirms: Bool) { self.confirms = confirms }

    /// The key of this name; asks the person for one with `.biometric` protection.
    public func key(named name: KeyName) throws(KeyStoreError) -> [UInt8]? {
        guard !isLocked else { throw .locked }
        guard let entry = entries[name] else { return nil }
        if case .biometric(let reason) = entry.protection {
            questions.append(reason)
            guard confirms else { throw .refused }
        }
        return entry.key
    }

    /// Keeps a key, in place of an earlier one of the same name.
    public func store(_ key: [UInt8], named name: KeyName, protection: KeyProtection) throws(KeyStoreError) {
        guard !isLocked else { throw .locked }
        try removeKey(named: name)
        entries[name] = Entry(key: key, protection: protection)
    }

    /// Forgets a key, and writes zeros over it first.
    public func removeKey(named name: KeyName) throws(KeyStoreError) {
        guard !isLocked else { throw .locked }
        guard let count = entries[name]?.key.count else { return }
        for index in 0..<count { entries[name]?.key[index] = 0 }
        entries[name] = nil
    }

    /// The names of all keys, in order.
    public func names() throws(KeyStoreError) -> [KeyName] { entries.keys.sorted() }
}
