extension Identity {
    /// What a token may do of what its user may: the union of its rights.
    ///
    /// `ScopeNarrowing` says what each right means.
    package struct Scope: Hashable, Sendable {
        /// Rights that name no topic.
        package struct Rights: OptionSet, Hashable, Sendable {
            /// One bit a right.
            package let rawValue: UInt8

            /// The rights of these bits.
            package init(rawValue: UInt8) { self.rawValue = rawValue }

            /// All that the user may.
            package static let full = Rights(rawValue: 1)
            /// Queries and subscriptions.
            package static let read = Rights(rawValue: 2)
            /// `sendPush` to any user of the server, and reading what became of it.
            package static let push = Rights(rawValue: 4)
            /// Making and managing own topics, and no messages.
            package static let topics = Rights(rawValue: 8)
            /// Figures of the server.
            package static let metrics = Rights(rawValue: 16)
            /// The log of who changed what.
            package static let audit = Rights(rawValue: 32)
            /// What an app's device does: reading, and registering itself.
            package static let device = Rights(rawValue: 64)

            /// Those that reach beyond what is their user's: `full` does not have them.
            package static let serverWide: Rights = [.push, .metrics, .audit]

            /// Each right with its word.
            static let words: [(word: String, right: Rights)] = [
                ("full", .full), ("read", .read), ("push", .push), ("topics", .topics), ("metrics", .metrics),
                ("audit", .audit), ("device", .device),
            ]
        }

        /// The rights that name no topic.
        package let rights: Rights
        /// The topics that may be read with their messages, in order.
        package let readTopics: [String]
        /// The topics in which messages may be created, in order.
        package let publishTopics: [String]

        /// Topics that one scope may name.
        package static let maximumTopics = 50

        fileprivate init(_ rights: Rights, read: Set<String> = [], publish: Set<String> = []) {
            let isFull = rights.contains(.full)
            self.rights = isFull ? rights.intersection(Rights.serverWide.union(.full)) : rights
            readTopics = isFull ? [] : read.sorted()
            publishTopics = isFull ? [] : publish.sorted()
        }

        /// All that the user may.
        package static let full = Scope(.full)
        /// Queries and subscriptions only.
        package static let readOnly = Scope(.read)
        /// `sendPush` to any user of the server, and reading what became of it; nothing else.
        package static let push = Scope(.push)

        /// `createMessage` in one topic, by its id, and nothing else.
        package static func publish(topic: String) -> Scope { Scope([], publish: [topic]) }

        /// The scope of these words, such as `read` or `publish:<topicId>`.
        ///
        /// Nil unless each is known, there is one at least, and no more topics are named than may
        /// be.
        package init?(words: [String]) {
            var (rights, read, publish) = (Rights(), Set<String>(), Set<String>())
            for word in words {
                if let known = Rights.words.first(where: { $0.word == word }) {
                    rights.insert(known.right)
                } else if let topic = Self.topic(of: word, after: Self.readPrefix) {
                    read.insert(topic)
                } else if let topic = Self.topic(of: word, after: Self.publishPrefix) {
                    publish.insert(topic)
                } else {
                    return nil
                }
            }
            guard !words.isEmpty, read.count + publish.count <= Self.maximumTopics else { return nil }
            self.init(rights, read: read, publish: publish)
        }

        private static let readPrefix = "read:"
        private static let publishPrefix = "publish:"

        private static func topic(of word: String, after prefix: String) -> String? {
            guard word.hasPrefix(prefix) else { return nil }
            let topic = word.dropFirst(prefix.count)
            let isPlain = topic.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            return topic.isEmpty || topic.utf8.count > 256 || !isPlain ? nil : String(topic)
        }
    }
}

extension Identity.Scope {
    /// The scope in words, always in the same order.
    package var words: [String] {
        Rights.words.filter { rights.contains($0.right) }.map(\.word)
            + readTopics.map { Self.readPrefix + $0 } + publishTopics.map { Self.publishPrefix + $0 }
    }

    /// What clients were always told of the four oldest scopes; of others the words.
    package var summary: String {
        if self == .readOnly { return "read-only" }
        guard rights.isEmpty, readTopics.isEmpty, publishTopics.count == 1 else { return words.joined(separator: " ") }
        return "publish"
    }

    /// Whether a token of this scope may do all that one of the other may.
    package func covers(_ other: Self) -> Bool {
        guard rights.isSuperset(of: other.rights.intersection(.serverWide)) else { return false }
        if isFull { return true }
        var wanted = other.rights
        if rights.contains(.device) { wanted.remove(.read) }
        return rights.isSuperset(of: wanted)
            && (readsAll || Set(readTopics).isSuperset(of: other.readTopics))
            && Set(publishTopics).isSuperset(of: other.publishTopics)
    }

    /// The same without some of its rights that name no topic.
    func subtracting(_ rights: Rights) -> Self {
        Self(self.rights.subtracting(rights), read: Set(readTopics), publish: Set(publishTopics))
    }

    /// Whether it gives what its user may, and nothing less.
    package var isFull: Bool { rights.contains(.full) }
    /// Whether all that the user may read may be read.
    package var readsAll: Bool { !rights.isDisjoint(with: [.full, .read, .device]) }
    /// Whether figures of the server may be read; `full` alone does not say so.
    package var maySeeMetrics: Bool { rights.contains(.metrics) }
    /// Whether the log of changes may be read as its keepers read it; `full` alone does not say so.
    package var maySeeAudit: Bool { rights.contains(.audit) }
}
