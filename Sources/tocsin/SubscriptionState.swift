import Foundation
import JSON
import TocsinClient

/// The file in which `tocsin subscribe --state` keeps where it stands.
///
/// It is replaced as a whole: written beside, synchronised with the disk and renamed, so that whatever is killed, the file
/// holds a place that was true.
struct SubscriptionState {
    let path: String
    /// The topic as the user named it.
    let topic: String

    /// The place that was kept; nil when there is no file yet.
    func load() throws(CommandFailure) -> FeedPlace? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let bytes = FileManager.default.contents(atPath: path), let object = try? JSONParser.parse(Array(bytes)),
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
        return FeedPlace(topicID: topicID, number: number, cursor: object["cursor"]?.stringValue)
    }

    /// Keeps the place; it is on the disk when this returns.
    func save(_ place: FeedPlace) throws(CommandFailure) {
        var object: JSONObject = [
            "topic": .string(topic), "topicId": .string(place.topicID), "number": .int(place.number),
        ]
        if let cursor = place.cursor { object["cursor"] = .string(cursor) }
        let text = JSONValue.object(object).serialized() + [UInt8(ascii: "\n")]
        let draft = path + ".new"
        // A new file, whatever has the draft's name: neither its mode nor where a link leads matters.
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure() }
        let isWritten = write(file, text, text.count) == text.count && fsync(file) == 0
        let reason = failure()
        close(file)
        guard isWritten else { throw reason }
        guard rename(draft, path) == 0 else { throw failure() }
        // The folder's entry is what a power cut could take back.
        let folder = open(folderPath, O_RDONLY)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private var folderPath: String { URL(filePath: path).deletingLastPathComponent().path }

    private func failure() -> CommandFailure {
        CommandFailure("The state cannot be kept in \(path): \(String(cString: strerror(errno))).")
    }
}
