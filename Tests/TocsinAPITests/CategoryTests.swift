import JSON
import Testing
import TocsinAPI
import TocsinCore

@Suite("Notification categories")
struct CategoryTests {
    @Test("the file that ships is right, and clients get it with every button's options")
    func shipped() async throws {
        #expect(CategoryReading.shipped.problems.isEmpty)
        let api = try await APIHarness()
        let answer = try await api.run(
            """
            { notificationCategories { id hiddenPreview actions {
                id title foreground destructive authenticationRequired textInput { buttonTitle placeholder } } } }
            """
        )
        let categories = answer["data"]?["notificationCategories"]?.arrayValue ?? []
        #expect(answer["errors"] == nil, "\(answer)")
        #expect(categories.map { $0["id"] } == CategoryReading.shipped.categories.map { .string($0.id) })
        #expect(
            categories.first?["actions"]?[0] == [
                "id": "REPLY", "title": "Reply", "foreground": false, "destructive": false,
                "authenticationRequired": true, "textInput": ["buttonTitle": "Send", "placeholder": "Message"],
            ]
        )
    }

    @Test("fewer can be asked for")
    func pages() async throws {
        let api = try await APIHarness()
        let answer = try await api.run("{ notificationCategories(limit: 1) { id actions(limit: 1) { id } } }")
        #expect(
            answer["data"]?["notificationCategories"] == [["id": "MESSAGE", "actions": [["id": "REPLY"]]]],
            "\(answer)"
        )
    }

    @Test("a message may name a category that the file lacks: its app may know it")
    func unknownCategory() async throws {
        let api = try await APIHarness()
        let topic = try await api.makeTopic()
        #expect(try await api.publish("t", to: topic, with: ["category": "ONLY_THE_APP"])["number"] == 1)
    }

    @Test(
        "a mistake is named with its location",
        arguments: [
            ("{", "c.json:1:"), ("{}", "c.json must be an object, {"),
            ("{\"categories\":[],\"more\":1}", "must be an object, {"),
            (
                "{\"categories\":[],\"states\":[{\"state\":\"Late\",\"category\":\"X\"}]}",
                "there is no category X in this file"
            ),
            (
                "{\"categories\":[],\"states\":[{\"state\":\"Late\",\"category\":\"X\",\"actions\":[]}]}",
                "states[0].actions must be a list of 1 to 8 buttons"
            ),
            ("{\"categories\":[1]}", "categories[0] must be an object"),
            ("{\"categories\":[{\"id\":\"A\"}]}", "categories[0].actions must be a list of 1 to 8 buttons"),
            (
                "{\"categories\":[{\"id\":\"\",\"actions\":[{\"id\":\"a\",\"title\":\"t\"}]}]}",
                "categories[0].id must be a text"
            ),
            (
                "{\"categories\":[{\"id\":\"A\",\"actions\":[{\"id\":\"a\",\"title\":\"t\",\"red\":true}]}]}",
                "categories[0].actions[0] has no member red; it may have id, title, textInput, foreground"
            ),
            (
                "{\"categories\":[{\"id\":\"A\",\"actions\":[{\"id\":\"a\",\"title\":\"t\",\"destructive\":1}]}]}",
                "categories[0].actions[0].destructive must be true or false"
            ),
            (
                "{\"categories\":[{\"id\":\"A\",\"actions\":[{\"id\":\"a\",\"title\":\"t\"},{\"id\":\"a\",\"title\":\"u\"}]}]}",
                "categories[0]: each button needs an id of its own"
            ),
            (
                """
                {"categories":[{"id":"A","actions":[{"id":"a","title":"t"}]},{"id":"A","actions":[{"id":"a","title":"t"}]}]}
                """, "categories[1]: there is a category A already"
            ),
            (
                "{\"categories\":[{\"id\":\"A\",\"actions\":[{\"id\":\"a\",\"title\":\"t\",\"textInput\":{}}]}]}",
                "categories[0].actions[0].textInput.buttonTitle must be a text"
            ),
        ]
    )
    func mistakes(_ text: String, _ problem: String) {
        let problems = CategoryReading(text, file: "c.json").problems
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }
}
