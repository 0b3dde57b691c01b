package import TocsinCore
import JSON

/// Reads a categories file: every mistake is reported, with what to do.
package struct CategoryReading {
    /// What could be read.
    package private(set) var categories: [NotificationCategory] = []
    /// The states that could be read.
    package private(set) var states: [NotificationState] = []
    /// Sentences that name file and path.
    package private(set) var problems: [String] = []

    private let file: String
    private static let maximumCategories = 100
    private static let maximumActions = 8
    private static let maximumBytes = 128

    /// The categories that ship.
    package static var shipped: CategoryReading {
        let name = "categories.json"
        return CategoryReading(EmbeddedSchema.files.first { $0.name == name }?.text ?? "", file: name)
    }

    /// Reads the text of a categories file; `file` is its name in problems.
    package init(_ text: String, file: String) {
        self.file = file
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONParser.parse(text)
        } catch {
            problems = ["\(file):\(error.line):\(error.column): \(error.message)"]
            return
        }
        guard let list = root["categories"]?.arrayValue,
            root.objectValue?.keys.allSatisfy({ $0 == "categories" || $0 == "states" }) == true
        else {
            problems = ["\(file) must be an object, {\"categories\": [ … ]}, with \"states\" if there are any."]
            return
        }
        guard list.count <= Self.maximumCategories else {
            problems = ["\(file) has \(list.count) categories; at most \(Self.maximumCategories) are allowed."]
            return
        }
        var known: Set<String> = []
        for (index, value) in list.enumerated() {
            guard let category = category(value, at: "categories[\(index)]") else { continue }
            if !known.insert(category.id).inserted {
                problems.append(
                    "\(file): categories[\(index)]: there is a category \(category.id) already; rename one."
                )
            }
            categories.append(category)
        }
        if let value = root["states"] { readStates(value, known) }
    }

    private mutating func readStates(_ value: JSONValue, _ categories: Set<String>) {
        guard let list = value.arrayValue, list.count <= Self.maximumCategories else {
            problems.append("\(file): states must be a list of at most \(Self.maximumCategories).")
            return
        }
        var known = Set(categories.map { $0.lowercased() })
        for (index, value) in list.enumerated() {
            let path = "states[\(index)]"
            guard let object = object(value, at: path, members: ["state", "category", "actions"]) else { continue }
            var buttons: [NotificationAction]?
            if let value = object["actions"] {
                guard let actions = actions(value, at: path) else { continue }
                buttons = actions
            }
            guard let name = text("state", of: object, at: path), let category = text("category", of: object, at: path)
            else { continue }
            if !known.insert(name.lowercased()).inserted {
                problems.append("\(file): \(path): there is a state or category \(name) already; rename one.")
            }
            if !categories.contains(category) {
                problems.append("\(file): \(path): there is no category \(category) in this file.")
            }
            states.append(NotificationState(name: name, category: category, actions: buttons))
        }
    }

    private mutating func category(_ value: JSONValue, at path: String) -> NotificationCategory? {
        guard let object = object(value, at: path, members: ["id", "actions", "hiddenPreview"]) else { return nil }
        let id = text("id", of: object, at: path)
        var preview: String?
        if object["hiddenPreview"] != nil { preview = text("hiddenPreview", of: object, at: path) }
        guard let actions = actions(object["actions"], at: path) else { return nil }
        return id.map { NotificationCategory(id: $0, actions: actions, hiddenPreview: preview) }
    }

    private mutating func actions(_ value: JSONValue?, at path: String) -> [NotificationAction]? {
        guard let list = value?.arrayValue, (1...Self.maximumActions).contains(list.count) else {
            problems.append("\(file): \(path).actions must be a list of 1 to \(Self.maximumActions) buttons.")
            return nil
        }
        let actions = list.enumerated().compactMap { action($1, at: "\(path).actions[\($0)]") }
        if Set(actions.map(\.id)).count < actions.count {
            problems.append("\(file): \(path): each button needs an id of its own.")
        }
        return actions
    }

    private mutating func action(_ value: JSONValue, at path: String) -> NotificationAction? {
        let options = NotificationAction.Option.allCases
        let members = ["id", "title", "textInput"] + options.map(\.rawValue)
        guard let object = object(value, at: path, members: members) else { return nil }
        let (id, title) = (text("id", of: object, at: path), text("title", of: object, at: path))
        var chosen: Set<NotificationAction.Option> = []
        for option in options {
            guard let value = object[option.rawValue] else { continue }
            guard let flag = value.boolValue else {
                problems.append("\(file): \(path).\(option.rawValue) must be true or false.")
                continue
            }
            if flag { chosen.insert(option) }
        }
        var input: NotificationAction.TextInput?
        if let value = object["textInput"] { input = textInput(value, at: path + ".textInput") }
        guard let id, let title else { return nil }
        return NotificationAction(id: id, title: title, options: chosen, textInput: input)
    }

    private mutating func textInput(_ value: JSONValue, at path: String) -> NotificationAction.TextInput? {
        guard let object = object(value, at: path, members: ["buttonTitle", "placeholder"]),
            let button = text("buttonTitle", of: object, at: path),
            let placeholder = text("placeholder", of: object, at: path)
        else { return nil }
        return NotificationAction.TextInput(buttonTitle: button, placeholder: placeholder)
    }

    private mutating func object(_ value: JSONValue, at path: String, members: [String]) -> JSONObject? {
        guard let object = value.objectValue else {
            problems.append("\(file): \(path) must be an object.")
            return nil
        }
        for key in object.keys where !members.contains(key) {
            problems.append(
                "\(file): \(path) has no member \(key.prefix(64)); it may have \(members.joined(separator: ", "))."
            )
        }
        return object
    }

    private mutating func text(_ name: String, of object: JSONObject, at path: String) -> String? {
        guard let text = object[name]?.stringValue, (1...Self.maximumBytes).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else {
            problems.append(
                "\(file): \(path).\(name) must be a text of 1 to \(Self.maximumBytes) bytes without control characters."
            )
            return nil
        }
        return text
    }
}
