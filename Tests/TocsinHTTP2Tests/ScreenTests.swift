import Foundation
import JSON
import Testing
import TocsinPush
import TocsinSimulator

@Suite("Simulated phones")
struct ScreenTests {
    private func alert(
        _ bench: Bench,
        _ text: String,
        collapse: String? = nil,
        expiration: String? = nil,
        token: String = deviceToken("a1")
    ) async {
        var batch = bench.apnsBatch([token], body: #"{"aps":{"alert":{"title":"\#(text)"},"badge":4}}"#)
        if let collapse { batch.requests[0].headers.append(PushHeader("apns-collapse-id", collapse)) }
        if let expiration { batch.requests[0].headers.append(PushHeader("apns-expiration", expiration)) }
        #expect(await bench.send(batch)[0].status == 200)
    }

    private func google(_ bench: Bench, _ android: JSONValue, data: JSONValue = ["id": "1"]) async {
        var batch = bench.fcmBatch(["phone-of-ada"])
        let body: JSONValue = ["message": ["token": "phone-of-ada", "data": data, "android": android]]
        batch.requests[0].body = body.serialized()
        #expect(await bench.send(batch)[0].status == 200)
    }

    private func titles(_ bench: Bench, _ token: String = deviceToken("a1")) -> [String] {
        bench.simulator.screen(of: token)?["shown"]?.arrayValue?.compactMap { $0["title"]?.stringValue } ?? []
    }

    @Test("a push with the collapse id of another takes its place")
    func collapse() async throws {
        try await Bench.with { bench in
            await alert(bench, "one", collapse: "k")
            await alert(bench, "two")
            await alert(bench, "three", collapse: "k")
            #expect(titles(bench) == ["two", "three"])
            let screen = bench.simulator.screen(of: deviceToken("a1"))
            #expect(screen?["alerts"] == 3)
            #expect(screen?["replaced"] == 1)
            #expect(screen?["badge"] == 4)
            #expect(screen?["shown"]?.arrayValue?.last?["pushes"] == 2)
            #expect(bench.simulator.screens["byShown"] == ["2": 1])
        }
    }

    @Test("an iPhone that FCM reaches shows what Apple's part says, and a collapse id replaces")
    func iPhoneThroughFCM() async throws {
        try await Bench.with { bench in
            for title in ["one", "two"] {
                let body: JSONValue = [
                    "message": [
                        "token": "phone-of-ada",
                        "apns": [
                            "headers": ["apns-collapse-id": "k", "apns-priority": "10"],
                            "payload": ["aps": ["alert": ["title": .string(title), "body": "b"], "badge": 3]],
                        ],
                    ]
                ]
                var batch = bench.fcmBatch(["phone-of-ada"])
                batch.requests[0].body = body.serialized()
                #expect(await bench.send(batch)[0].status == 200)
            }
            #expect(titles(bench, "phone-of-ada") == ["two"])
            let screen = bench.simulator.screen(of: "phone-of-ada")
            #expect(screen?["badge"] == 3 && screen?["replaced"] == 1, "\(screen ?? .null)")
        }
    }

    @Test("an iPhone's message that is too large for Apple with its data is refused")
    func tooLargeForApple() async throws {
        try await Bench.with { bench in
            let text = JSONValue.string(String(repeating: "x", count: 2100))
            let body: JSONValue = [
                "message": [
                    "token": "phone-of-ada", "data": ["text": text],
                    "apns": ["payload": ["aps": ["alert": "x"], "text": text]],
                ]
            ]
            var batch = bench.fcmBatch(["phone-of-ada"])
            batch.requests[0].body = body.serialized()
            #expect(await bench.send(batch)[0].status == 400)
        }
    }

    @Test("what was accepted is shown though its answer is lost; what was refused is not")
    func lostAnswer() async throws {
        try await Bench.with { bench in
            for prefix in ["e5eaf", "e5e1f", "dead", "aa"] {
                _ = await bench.send(bench.apnsBatch([deviceToken(prefix)], body: #"{"aps":{"alert":"x"}}"#))
            }
            #expect(bench.simulator.screens["phones"] == 2)
            #expect(bench.simulator.screen(of: deviceToken("e5eaf"))?["alerts"] == 1)
            #expect(bench.simulator.screen(of: deviceToken("dead")) == nil)
        }
    }

    @Test("for an iPhone that is away the newest notification is kept, unless its time is over")
    func offlineIPhone() async throws {
        let clock = HandClock()
        try await Bench.with({ $0.nowMilliseconds = clock.now }) { bench in
            bench.simulator.setOnline(false, token: deviceToken("a1"))
            await alert(bench, "one")
            await alert(bench, "two")
            await alert(bench, "not kept", expiration: "0")
            #expect(titles(bench) == [])
            bench.simulator.setOnline(true, token: deviceToken("a1"))
            #expect(titles(bench) == ["two"])
            bench.simulator.setOnline(false, token: deviceToken("a1"))
            await alert(bench, "stale", expiration: "1800000010")
            clock.pass(seconds: 10)
            bench.simulator.setOnline(true, token: deviceToken("a1"))
            #expect(titles(bench) == ["two"])
        }
    }

    @Test("for an Android phone that is away one message of each key is kept, and up to a hundred without")
    func offlineAndroid() async throws {
        try await Bench.with { bench in
            bench.simulator.setOnline(false, token: "phone-of-ada")
            for number in 0..<6 {
                await google(bench, ["collapse_key": .string("k\(number)"), "notification": ["title": "\(number)"]])
            }
            await google(bench, ["collapse_key": "k5", "notification": ["title": "5 again"]])
            for _ in 0..<101 { await google(bench, [:]) }
            bench.simulator.setOnline(true, token: "phone-of-ada")
            #expect(titles(bench, "phone-of-ada") == ["2", "3", "4", "5 again"])
            let screen = bench.simulator.screen(of: "phone-of-ada")
            #expect(screen?["deletedMessages"] == 1)
            #expect(screen?["quiet"] == 0)
        }
    }

    @Test("after twenty messages with a collapse key the next come one every three minutes")
    func throttle() async throws {
        let clock = HandClock()
        try await Bench.with({ $0.nowMilliseconds = clock.now }) { bench in
            for number in 0..<23 {
                await google(bench, ["collapse_key": "k", "notification": ["title": "\(number)"]])
            }
            #expect(titles(bench, "phone-of-ada").count == 20)
            #expect(bench.simulator.screen(of: "phone-of-ada")?["heldBack"] == 1)
            await google(bench, ["notification": ["title": "without a key", "tag": "t"]])
            #expect(titles(bench, "phone-of-ada").count == 21)
            await google(bench, ["collapse_key": "k", "ttl": "0s", "notification": ["title": "at once"]])
            #expect(titles(bench, "phone-of-ada").count == 22)
            clock.pass(seconds: 180)
            #expect(titles(bench, "phone-of-ada").last == "22")
        }
    }

    @Test("a tag replaces on Android; a message that is only validated reaches no phone")
    func tag() async throws {
        try await Bench.with { bench in
            await google(bench, ["notification": ["title": "one", "tag": "t"]])
            await google(bench, ["notification": ["title": "two", "tag": "t"]])
            var batch = bench.fcmBatch(["phone-of-ada"])
            let message: JSONValue = ["token": "phone-of-ada", "notification": ["title": "three"]]
            batch.requests[0].body = JSONValue.object(["validate_only": true, "message": message]).serialized()
            let answer = await bench.send(batch)[0]
            #expect(answer.reason == #"{"name":"projects/tocsin-simulator/messages/fake_message_id"}"#)
            #expect(titles(bench, "phone-of-ada") == ["two"])
        }
    }

    @Test("phones beyond the limit are counted, and no phone shows more than a hundred")
    func bounded() async throws {
        try await Bench.with({ $0.maximumPhones = 2 }) { bench in
            for number in 0..<5 { _ = await bench.send(bench.apnsBatch([deviceToken("aa", number)])) }
            for _ in 0..<110 { _ = await bench.send(bench.apnsBatch([deviceToken("aa", 0)])) }
            #expect(bench.simulator.screens["phones"] == 2)
            #expect(bench.simulator.screens["beyond"] == 3)
            #expect(bench.simulator.screens["alerts"] == 112)
            #expect(bench.simulator.screens["byShown"] == ["1": 1, "100": 1])
        }
    }
}
