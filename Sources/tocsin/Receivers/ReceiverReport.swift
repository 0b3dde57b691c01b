import JSON
import TocsinCore
import TocsinReceivers

/// What a receiver has made of a request, as JSON for people.
enum ReceiverReport {
    /// `{"events", "trouble", "answer"}`, and whether all of the request fitted.
    static func result(
        of reading: Reading,
        by receiver: any Receiver,
        _ request: ReceiverRequest
    ) -> (result: JSONValue, isFine: Bool) {
        switch reading {
        case .events(let events, let notes):
            let result: JSONValue = [
                "events": .array(events.map(EventListing.json)), "trouble": .array(notes.map { .string($0) }),
            ]
            return (result, notes.isEmpty)
        case .refused(let fault):
            let answer = receiver.answer(fault, to: request)
            return (["events": [], "trouble": [], "refused": shown(answer)], false)
        case .answered(let answer): return (["events": [], "trouble": [], "answer": shown(answer)], true)
        }
    }

    private static func shown(_ answer: ReceiverAnswer) -> JSONValue {
        let text = String(decoding: answer.body, as: UTF8.self)
        return [
            "status": .int(Int64(answer.status)), "body": (try? JSONParser.parse(text)) ?? .string(text),
        ]
    }
}
