/// HTML, Slack's markup and Markdown as plain text, whichever it is.
enum PlainText {
    /// The text without markup: what links say stays.
    static func of(_ text: String) -> String {
        let isHTML = ["</", "<br", "<p>", "<img"].contains { text.contains($0) }
        return isHTML ? HTMLText.plain(text) : MarkdownText.plain(SlackMarkup.plain(text))
    }
}
