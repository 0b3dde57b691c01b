import Testing
import TocsinCore

@Suite("New messages and their numbers")
struct NewMessagesTests {
    private static let model = ModelType.messages([AccessRule(operations: [.read])])

    private static func message(_ id: String, topic: String, owner: String? = "ann") -> Record {
        Record(model, ["id": .text(id), "topicId": .text(topic), "owner": owner.map(FieldValue.text) ?? .null])
    }

    private static func numbers(_ messages: NewMessages) -> [MessageNumber?] { messages.records.map(\.number) }

    @Test("messages of a topic are numbered in their order, the last one as the database says")
    func oneTopic() {
        let messages = NewMessages((1...4).map { Self.message("m\($0)", topic: "t") })
        #expect(!messages.areNumbered)
        messages.assign(lastNumber: 10, ofTopic: "t")
        #expect(messages.areNumbered)
        #expect(Self.numbers(messages) == [7, 8, 9, 10])
        #expect(messages.records.map(\.id) == ["m1", "m2", "m3", "m4"])
    }

    @Test("each topic has numbers of its own, however its messages stand among those of others")
    func severalTopics() {
        let topics = ["a", "b", "a", "c", "b", "a"]
        let messages = NewMessages(topics.enumerated().map { Self.message("m\($0)", topic: $1) })
        #expect(messages.ofTopic == ["a": [0, 2, 5], "b": [1, 4], "c": [3]])
        messages.assign(lastNumber: 3, ofTopic: "a")
        messages.assign(lastNumber: 100, ofTopic: "b")
        #expect(!messages.areNumbered)
        messages.assign(lastNumber: 1, ofTopic: "c")
        #expect(messages.areNumbered)
        #expect(Self.numbers(messages) == [1, 99, 2, 1, 100, 3])
    }

    @Test("until the database has answered, a message has the count of those behind it in its topic and feed")
    func behind() {
        let messages = NewMessages([
            Self.message("m1", topic: "a", owner: "ann"), Self.message("m2", topic: "b", owner: "ann"),
            Self.message("m3", topic: "a", owner: "bob"), Self.message("m4", topic: "a", owner: "ann"),
        ])
        #expect(Self.numbers(messages) == [2, 0, 1, 0])
        #expect(messages.records.map(\.feedPosition) == [2, 1, 0, 0])
    }

    @Test("positions are an owner's own, whatever topics the messages are in")
    func positions() {
        let messages = NewMessages([
            Self.message("m1", topic: "a", owner: "ann"), Self.message("m2", topic: "a", owner: "bob"),
            Self.message("m3", topic: "b", owner: "ann"),
        ])
        #expect(messages.ofOwner == ["ann": [0, 2], "bob": [1]])
        messages.assign(lastPosition: 50, ofOwner: "ann")
        messages.assign(lastPosition: 7, ofOwner: "bob")
        #expect(messages.records.map(\.feedPosition) == [49, 7, 50])
        // Positions are no numbers.
        #expect(!messages.areNumbered)
    }

    @Test("a message that belongs to nobody is in no feed, and is numbered all the same")
    func ownerless() {
        let messages = NewMessages([Self.message("m1", topic: "a", owner: nil), Self.message("m2", topic: "a")])
        #expect(messages.ofOwner == ["ann": [1]])
        messages.assign(lastNumber: 2, ofTopic: "a")
        #expect(Self.numbers(messages) == [1, 2])
        #expect(messages.records[0].feedPosition == nil)
    }

    @Test("an answer about a topic or owner that none of the messages is of changes nothing")
    func strangers() {
        let messages = NewMessages([Self.message("m1", topic: "a")])
        let before = messages.records
        messages.assign(lastNumber: 9, ofTopic: "b")
        messages.assign(lastPosition: 9, ofOwner: "bob")
        #expect(messages.records == before)
        #expect(!messages.areNumbered)
    }

    @Test("no messages need no numbers")
    func none() {
        #expect(NewMessages([]).areNumbered)
        #expect(NewMessages([]).ofTopic.isEmpty)
    }

    @Test("a feed's offset is the number in a topic, and the position in the feed of the message's owner")
    func offsets() {
        var message = Self.message("m1", topic: "a", owner: "ann")
        #expect(FeedScope.topic(TopicID("a")).offset(of: message) == nil)
        (message["number"], message[ModelType.feedPosition]) = (.int(3), .int(8))
        #expect(FeedScope.topic(TopicID("a")).offset(of: message) == 3)
        #expect(FeedScope.owner("ann").offset(of: message) == 8)
        #expect(FeedScope.owner("bob").offset(of: message) == nil)
    }

    @Test("two spellings of a letter are two keys, and equal keys of two topics are two keys")
    func keys() {
        let (one, other) = ("caf\u{E9}", "cafe\u{301}")
        let topic = TopicID("t")
        #expect(MessageKey(topicID: topic, key: one) != MessageKey(topicID: topic, key: other))
        #expect(MessageKey(topicID: topic, key: one) != MessageKey(topicID: TopicID("u"), key: one))
        let copy = String(decoding: Array(one.utf8), as: UTF8.self)
        #expect(Set([MessageKey(topicID: topic, key: one), MessageKey(topicID: topic, key: copy)]).count == 1)
    }
}
