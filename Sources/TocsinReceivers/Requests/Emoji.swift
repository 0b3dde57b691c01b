/// The names of emoji that monitoring uses; ntfy's tags and Slack's `:name:`.
enum Emoji {
    /// The emoji of a name; nil: it is none that we know.
    static func named(_ name: String) -> String? { table[name.lowercased()] }

    private static let table: [String: String] = [
        "+1": "👍", "-1": "👎", "100": "💯", "alarm_clock": "⏰", "ambulance": "🚑", "arrow_down": "⬇️",
        "arrow_up": "⬆️", "bangbang": "‼️", "battery": "🔋", "beetle": "🐞", "bell": "🔔", "bomb": "💣",
        "boom": "💥", "broken_heart": "💔", "bug": "🐛", "calendar": "📆", "camera": "📷",
        "chart_with_downwards_trend": "📉", "chart_with_upwards_trend": "📈", "clock": "🕐", "cloud": "☁️",
        "computer": "💻", "construction": "🚧", "cop": "👮", "door": "🚪", "droplet": "💧", "email": "📧",
        "exclamation": "❗", "eyes": "👀", "facepalm": "🤦", "fire": "🔥", "floppy_disk": "💾", "gear": "⚙️",
        "green_circle": "🟢", "green_heart": "💚", "heart": "❤️", "heavy_check_mark": "✔️", "hourglass": "⌛",
        "house": "🏠", "information_source": "ℹ️", "key": "🔑", "label": "🏷️", "large_blue_circle": "🔵",
        "large_orange_circle": "🟠", "link": "🔗", "lock": "🔒", "loudspeaker": "📢", "mailbox": "📫",
        "mega": "📣", "money_with_wings": "💸", "mute": "🔇", "no_bell": "🔕", "no_entry": "⛔",
        "no_entry_sign": "🚫", "ok": "🆗", "orange_circle": "🟠", "package": "📦", "party_popper": "🎉",
        "phone": "☎️", "pushpin": "📌", "question": "❓", "rain_cloud": "🌧️", "red_circle": "🔴",
        "repeat": "🔁", "rocket": "🚀", "rotating_light": "🚨", "satellite": "📡", "shield": "🛡️", "skull": "💀",
        "snowflake": "❄️", "sos": "🆘", "sparkles": "✨", "speech_balloon": "💬", "stop_sign": "🛑",
        "stopwatch": "⏱️", "sunny": "☀️", "tada": "🎉", "thermometer": "🌡️", "thumbsdown": "👎", "thumbsup": "👍",
        "toolbox": "🧰", "traffic_light": "🚥", "triangular_flag_on_post": "🚩", "unlock": "🔓", "warning": "⚠️",
        "wastebasket": "🗑️", "white_check_mark": "✅", "wrench": "🔧", "x": "❌", "yellow_circle": "🟡", "zap": "⚡",
        "zzz": "💤",
    ]
}
