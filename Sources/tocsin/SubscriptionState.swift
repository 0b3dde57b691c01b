import Glibc
import JSON
import TocsinClient
import TocsinServer

/// The file in which `tocsin subscribe --state` keeps where it stands.
///
/// It is replaced as a whole: written beside, synchronised with the disk and renamed, so that
/// whatever is killed, the file holds a point that was true.
struct SubscriptionState {
    let path: String
    /// The topic as the user named it.
    let topic: String

    /// The resume point that was kept; nil when there is no file yet.
    func load() throws(CommandFailure) -> ResumePoint? {
        guard access(path, F_OK) == 0 else { return nil }
        guard let bytes = try? SystemFile.contents(of: path), let object = try? JSONParser.parse(bytes),
            let topicID = object["topicId"]?.stringValue, let number = object["number"]?.intValue
        else {
            throw CommandFailure(
                "\(path) is no state of a subscription. Name another file, or remove it to begin anew."
            )
        }
        let name = object["topic"]?.stringValue
        guard [topicID, name].contains(topic) else {
            throw CommandFailure(
                "\(path) is the state of topic \(name ?? topicID), not of \(topic). Name a file for each topic.",
                status: 2
            )
        }
        return ResumePoint(topicID: topicID, number: number, cursor: object["cursor"]?.stringValue)
    }

    /// Keeps the resume point; it is on the disk when this returns.
    func save(_ point: ResumePoint) throws(CommandFailure) {
        var object: JSONObject = [
            "topic": .string(topic), "topicId": .string(point.topicID), "number": .int(point.number),
        ]
        if let cursor = point.cursor { object["cursor"] = .string(cursor) }
        let text = JSONValue.object(object).serialized() + [UInt8(ascii: "\n")]
        do throws(SystemFile.Failure) {
            try SystemFile.replace(path, with: text, mode: 0o600)
        } catch {
            throw CommandFailure("The state cannot be kept in \(path): \(error.reason).")
        }
    }
}
