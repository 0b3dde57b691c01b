/// Finds the longest texts that fit a provider's size limit: the body is
/// cut before the title.
enum TextFitting {
    /// Texts of a notification, possibly shortened.
    struct Texts {
        var title: String
        var body: String
    }

    /// How much of a message a notification carries.
    enum Detail: CaseIterable {
        case everything
        /// Ids and texts, without the publisher's own values.
        case idsOnly
    }

    /// The first template that fits the size; nil if even an empty one is too large.
    ///
    /// Tried in order: everything, a shortened body, no body and a shortened title, then the same
    /// with less detail.
    ///
    /// Ciphertext may not be cut, and the texts shown in its place are not what is long: all of it or less detail.
    static func fit(
        _ texts: Texts,
        of payload: PushPayload,
        within maximumBytes: Int,
        startingWith first: Detail = .everything,
        template: (Texts, Detail) -> BodyTemplate
    ) -> BodyTemplate? {
        for detail in Detail.allCases where first == .everything || detail == .idsOnly {
            func build(_ title: String, _ body: String) -> BodyTemplate? {
                let built = template(Texts(title: title, body: body), detail)
                return built.countedBytes <= maximumBytes ? built : nil
            }
            if let built = build(texts.title, texts.body) { return built }
            guard payload.placeholder == nil || detail == .idsOnly else { continue }
            if let built = longest(of: texts.body, { build(texts.title, $0) }) { return built }
            if let built = longest(of: texts.title, { build($0, "") }) { return built }
        }
        return nil
    }

    /// At most this many bytes of a text, ending at a character's border; within a character of absurd length, at a
    /// scalar's.
    static func prefix(of text: String, bytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let cut = text.utf8.index(text.startIndex, offsetBy: max(0, limit))
        var end = cut
        for _ in 0..<longestCharacterBytes where end > text.startIndex {
            if String.Index(end, within: text) != nil { return String(text[..<end]) }
            end = text.utf8.index(before: end)
        }
        end = cut
        while String.Index(end, within: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return String(text.unicodeScalars[..<end])
    }

    /// No character that means something is longer; families of emoji take 25.
    private static let longestCharacterBytes = 64

    /// Searches for the most bytes of `text` that, with an ellipsis, can be built.
    private static func longest(of text: String, _ build: (String) -> BodyTemplate?) -> BodyTemplate? {
        var (low, high) = (1, text.utf8.count - 1)
        var best: BodyTemplate?
        while low <= high {
            let middle = (low + high) / 2
            let kept = prefix(of: text, bytes: middle)
            if !kept.isEmpty, let built = build(kept + "…") {
                best = built
                low = middle + 1
            } else if kept.isEmpty {
                // The first character alone is longer than this: nothing shorter can be kept.
                low = middle + 1
            } else {
                high = middle - 1
            }
        }
        return best
    }
}
