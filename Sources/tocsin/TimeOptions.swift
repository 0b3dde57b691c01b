import ArgumentParser
import TocsinAPI
import TocsinCore

/// Moments that options name: checked here, where their names are known.
enum MomentOption {
    /// Throws unless the text is a moment with an offset.
    static func check(_ text: String?, _ option: String) throws {
        guard let text, Timestamp(awsDateTime: text) == nil else { return }
        throw ValidationError(
            "\(option) is \"\(Terminal.harmless(text))\". Write a time with an offset, such as 2026-12-24T09:00:00Z or "
                + "2026-12-24T10:00:00+01:00; date -u -d 'tomorrow 9:00' +%FT%TZ prints one."
        )
    }
}

/// Times of a day that options name.
enum ClockOption {
    /// Throws unless the text is hours and minutes.
    static func check(_ text: String, _ option: String) throws {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), (0...23).contains(hour), (0...59).contains(minute)
        else {
            throw ValidationError(
                "\(option) is \"\(Terminal.harmless(text))\". Write hours and minutes, such as 08:00."
            )
        }
    }
}
