import Encodings
import Testing
import TocsinCore

@Suite("Scopes of tokens")
struct ScopeTests {
    private static let subject = "0190a000-0000-7000-8000-00000000000a"
    private static let everything = [AccessRule(.signedIn)]
    private static let topics = ModelType.topics(everything)
    private static let messages = ModelType.messages(everything)
    private static let notes = ModelType.sample([.declared("id"), .declared("topicId")], rules: everything)

    private static func caller(_ words: [String]) throws -> Identity {
        let scope = try #require(Identity.Scope(words: words))
        return Identity(userID: UserID(subject), username: "ann", scope: scope)
    }

    /// Every operation on a row of each kind that these words leave, as `Topic t1 read`.
    private static func left(_ words: [String]) throws -> Set<String> {
        let caller = try caller(words)
        let own = DirectPushService.topicID(of: caller).text
        var left: Set<String> = []
        for (name, topic) in [("t1", "t1"), ("t2", "t2"), ("pushes", own)] {
            let owner = topic == "t2" ? "eve" : "ann"
            let rows = [
                ("Topic", Record(topics, ["id": .text(topic), "owner": .text(owner)])),
                ("Message", Record(messages, ["topicId": .text(topic)])),
                ("Note", Record(notes, ["id": .text(topic), "topicId": .text(topic)])),
            ]
            for (kind, row) in rows {
                for operation in AccessRule.Operation.allCases
                where AccessPolicy.decision(operation, on: row.model, for: caller).allows(row) {
                    left.insert("\(kind) \(name) \(operation.rawValue)")
                }
            }
        }
        return left
    }

    private static let reads = ["read", "get", "list"]
    private static let listens = reads + ["sync", "listen"]

    private static func rows(_ kind: String, _ topics: [String], _ operations: [String]) -> Set<String> {
        Set(topics.flatMap { topic in operations.map { "\(kind) \(topic) \($0)" } })
    }

    private static func everything(_ operations: [String]) -> Set<String> {
        ["Topic", "Message", "Note"].reduce(into: []) { $0.formUnion(rows($1, ["t1", "t2", "pushes"], operations)) }
    }

    /// Each right by itself, and what it leaves of the models' operations.
    private static let matrix: [(word: String, left: Set<String>)] = [
        ("full", everything(listens + ["create", "update", "delete"])),
        ("read", everything(listens)),
        ("device", everything(listens)),
        ("read:t1", rows("Topic", ["t1"], listens).union(rows("Message", ["t1"], listens))),
        ("publish:t1", rows("Topic", ["t1"], reads).union(rows("Message", ["t1"], ["create"]))),
        ("push", rows("Topic", ["pushes"], reads).union(rows("Message", ["pushes"], reads))),
        ("topics", rows("Topic", ["t1", "pushes"], listens + ["create", "update", "delete"])),
        ("metrics", []),
        ("audit", []),
    ]

    @Test("a right leaves these operations on these rows, and no others", arguments: 0..<matrix.count)
    func eachRight(index: Int) throws {
        let (word, left) = Self.matrix[index]
        #expect(try Self.left([word]) == left)
    }

    @Test("two rights leave what either leaves", arguments: 0..<matrix.count)
    func pairs(index: Int) throws {
        for other in Self.matrix {
            let words = [Self.matrix[index].word, other.word]
            #expect(try Self.left(words) == Self.matrix[index].left.union(other.left), "\(words)")
        }
    }

    @Test(
        "own things are seen by who reads all, and managed by full tokens and, those of devices, by device tokens",
        arguments: [
            ("full", true, true, true), ("read", true, false, false), ("device", true, true, false),
            ("read:t1", false, false, false), ("publish:t1", false, false, false), ("push", false, false, false),
            ("topics", false, false, false), ("metrics", false, false, false), ("audit", false, false, false),
        ]
    )
    func ownThings(word: String, sees: Bool, registers: Bool, manages: Bool) throws {
        let caller = try Self.caller([word])
        #expect(AccessPolicy.mayManageOwnThings(caller, writing: false) == sees)
        #expect(AccessPolicy.mayManageOwnThings(caller, .ofDevices, writing: true) == registers)
        #expect(AccessPolicy.mayManageOwnThings(caller, writing: true) == manages)
        #expect(AccessPolicy.mayGiveAccess(caller) == (word == "full"))
        #expect(caller.scope.maySeeMetrics == (word == "metrics") && caller.scope.maySeeAudit == (word == "audit"))
    }

    @Test("pushes reach everybody by push, people themselves by full, and nobody by anything else")
    func reach() throws {
        for (word, _) in Self.matrix {
            let expected: AccessPolicy.PushReach =
                switch word {
                case "push": .everybody
                case "full": .only(UserID(Self.subject))
                default: .nobody
                }
            #expect(AccessPolicy.pushReach(of: try Self.caller([word])) == expected, "\(word)")
        }
        #expect(AccessPolicy.pushReach(of: try Self.caller(["full", "push"])) == .everybody)
    }

    @Test(
        "words of no scope are none",
        arguments: [
            [], [""], ["Full"], ["write"], ["publish:"], ["read:"], ["read-only"], ["full", "nothing"],
            ["publish:a\nb"], ["scim"], (0..<51).map { "read:t\($0)" },
        ] as [[String]]
    )
    func noScopes(words: [String]) { #expect(Identity.Scope(words: words) == nil) }

    @Test("the oldest four are spellings of sets, and words come in one order")
    func spellings() {
        #expect(Identity.Scope(words: ["full"]) == .full && Identity.Scope(words: ["read"]) == .readOnly)
        #expect(Identity.Scope(words: ["push"]) == .push)
        #expect(Identity.Scope(words: ["publish:a"]) == .publish(topic: "a"))
        let words = ["publish:b", "audit", "publish:a", "read:z", "read", "publish:a"]
        #expect(Identity.Scope(words: words)?.words == ["read", "audit", "read:z", "publish:a", "publish:b"])
        #expect(Identity.Scope(words: ["full", "read", "publish:a"]) == .full, "full has them already")
    }

    @Test(
        "a scope covers what it leaves, and full covers nothing that reaches beyond its user",
        arguments: [
            ("full", "read topics device read:a publish:a full", true), ("full", "push", false),
            ("full", "metrics", false), ("full", "audit", false), ("full push", "push", true),
            ("read", "read:a", true), ("read", "publish:a", false), ("read", "device", false),
            ("device", "read", true), ("read:a publish:b", "publish:b", true), ("read:a", "read:b", false),
            ("publish:a", "publish:a publish:b", false), ("topics", "read", false), ("read:a", "read", false),
        ]
    )
    func covers(wide: String, narrow: String, covers: Bool) throws {
        func scope(_ words: String) throws -> Identity.Scope {
            try #require(Identity.Scope(words: words.split(separator: " ").map(String.init)))
        }
        #expect(try scope(wide).covers(try scope(narrow)) == covers)
    }

    @Test(
        "a token for some networks is usable from addresses in them, however these are written, and from nowhere unknown",
        arguments: [
            ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("fd00::/8", "fd12::1", true), ("fd00::/8", "10.1.2.3", false),
            ("::/0", "10.1.2.3", false), ("::/0", "2001:db8::1", true), ("0.0.0.0/0", "2001:db8::1", false),
            ("10.0.0.0/8", nil, false), ("10.0.0.0/8", "nonsense", false),
        ] as [(String, String?, Bool)]
    )
    func networks(network: String, address: String?, isUsable: Bool) throws {
        let network = try #require(AddressNetwork(network))
        let caller = Identity(userID: UserID("u"), username: "ann", networks: [network])
        #expect(caller.isUsable(from: address) == isUsable)
        #expect(Identity(userID: UserID("u"), username: "ann").isUsable(from: address))
    }

    @Test("a network is inside another one when all its addresses are")
    func insideNetworks() throws {
        let wide = try #require(AddressNetwork("10.0.0.0/8"))
        for (text, isInside) in [
            ("10.2.0.0/16", true), ("10.0.0.0/8", true), ("10.9.9.9", true), ("0.0.0.0/0", false),
            ("11.0.0.0/8", false),
            ("::/0", false),
        ] {
            #expect(wide.contains(try #require(AddressNetwork(text))) == isInside, "\(text)")
        }
        #expect(AddressNetwork("::ffff:10.0.0.0/8") == nil, "which 8 bits are meant cannot be told")
    }
}
