import JSON
import TocsinCore

extension ReceiverTemplate {
    /// What a template makes of a request.
    struct Outcome {
        var events: [SenderEvent] = []
        var isRefused = false
        var trouble: TemplateTrouble
    }

    /// Items of a list that make one event each; more are not read.
    static let maximumItems = 1000
    /// What one request may cost: about ten milliseconds.
    static let maximumSteps = 200_000
    static let maximumTextBytes = 65_536
    /// Of the JSON that stands in for a text.
    static let maximumRawBytes = 4096

    /// The events of a request; never none: what says nothing is ignored.
    func outcome(of input: TemplateInput, in context: ReceiverContext) -> Outcome {
        var outcome = Outcome(trouble: TemplateTrouble(SeverityReader(context.integration)))
        if let trouble = input.trouble { outcome.trouble.note(trouble) }
        var run = TemplateRun(input.scope, steps: Self.maximumSteps, maximumTextBytes: Self.maximumTextBytes)
        let isWhole = Self.forItems(of: each, &run, &outcome) { run, outcome in apply(to: &run, &outcome) }
        if !isWhole || run.isExhausted {
            // What was noted of half an event says nothing.
            outcome.trouble.forget()
            outcome.trouble.note(
                "the budget of \(Self.maximumSteps) steps is used up. Name fewer places of large values, or fewer items"
            )
            // What was made of the rest may lack anything.
            outcome.events = [Self.plain(input.scope)]
            outcome.isRefused = false
        }
        outcome.trouble.rule = ""
        for index in outcome.events.indices where outcome.events[index].action != .ignore {
            complete(&outcome.events[index], &run, number: index)
        }
        // What one item was refused for is no reason to lose the others.
        if !outcome.events.isEmpty { outcome.isRefused = false }
        if outcome.events.isEmpty, !outcome.isRefused { outcome.events = [SenderEvent(.ignore)] }
        return outcome
    }

    /// Applies the first rule that holds.
    private func apply(to run: inout TemplateRun, _ outcome: inout Outcome) {
        for (index, rule) in rules.enumerated() {
            outcome.trouble.rule = "rule \(index + 1)"
            guard rule.condition.holds(in: &run) else { continue }
            _ = Self.forItems(of: rule.each, &run, &outcome) { run, outcome in
                var event = rule.event.event(in: &run, trouble: &outcome.trouble)
                if event.action == .log, event.body.isEmpty, outcome.trouble.isOfAction {
                    event.body = Self.raw(run.scope)
                }
                outcome.trouble.isOfAction = false
                outcome.events.append(event)
            }
            return
        }
        outcome.trouble.rule = ""
        switch otherwise {
        case .log: outcome.events.append(Self.plain(run.scope))
        case .ignore: outcome.events.append(SenderEvent(.ignore))
        case .refuse: outcome.isRefused = true
        }
    }

    /// Does something for each item of a list, or once where there is none; false: the budget
    /// ended.
    private static func forItems(
        of list: TemplatePlaceholder?,
        _ run: inout TemplateRun,
        _ outcome: inout Outcome,
        _ work: (inout TemplateRun, inout Outcome) -> Void
    ) -> Bool {
        guard let list else {
            work(&run, &outcome)
            return !run.isExhausted
        }
        let value = run.value(of: list)
        guard case .array(let items) = value else {
            run.scope.item = value.objectValue == nil ? run.scope.document : value
            work(&run, &outcome)
            run.scope.item = .null
            return !run.isExhausted
        }
        if items.count > maximumItems {
            outcome.trouble.note("\(list.source) has \(items.count) items; the first \(maximumItems) were taken")
        }
        for item in items.prefix(maximumItems) where !item.isNull {
            run.scope.item = item
            work(&run, &outcome)
            guard !run.isExhausted else { return false }
        }
        run.scope.item = .null
        return true
    }

    /// What the receiver says of every event.
    private func complete(_ event: inout SenderEvent, _ run: inout TemplateRun, number: Int) {
        guard event.messageKey == nil, let messageKey else { return }
        let key = run.fill(messageKey).plainText
        if !key.isEmpty { event.messageKey = number == 0 ? key : "\(key)/\(number + 1)" }
    }

    // MARK: Without a rule

    private static let titles = ["title", "summary", "subject"]
    private static let bodies = ["message", "text", "body", "description", "msg"]

    /// A plain message with what JSON usually calls its texts, or with itself.
    private static func plain(_ scope: TemplateScope) -> SenderEvent {
        let document = scope.item.objectValue == nil ? scope.document : scope.item
        let title = text(of: titles, in: document)
        let body = text(of: bodies, in: document)
        var event = SenderEvent(.log, title: title ?? "", body: body ?? "")
        if body == nil { event.body = raw(scope) }
        return event
    }

    private static func text(of names: [String], in document: JSONValue) -> String? {
        for name in names {
            if case .string(let text)? = document[name], !text.isEmpty {
                return text.cut(toBytes: maximumTextBytes, mark: "…")
            }
        }
        return nil
    }

    /// The first of what was sent.
    private static func raw(_ scope: TemplateScope) -> String {
        scope.item.isNull ? scope.body : scope.item.serializedString().cut(toBytes: maximumRawBytes, mark: "…")
    }
}
