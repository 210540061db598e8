// What the terminal that a text is for can show.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_TERMINAL_STYLE_H_
#define OOM_FORENSICS_CONVERTER_RENDER_TERMINAL_STYLE_H_

namespace oom_forensics {

struct TerminalStyle {
  // Characters beyond ASCII.
  bool unicode = false;
  // ANSI colors.
  bool color = false;
};

// By the environment: Unicode where LC_ALL, LC_CTYPE or LANG (the first that is
// set) says UTF-8; colors only on a terminal that has them and where NO_COLOR
// is not set. `is_terminal`: the text is not for a file or a pipe.
TerminalStyle StyleFromEnvironment(bool is_terminal);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_TERMINAL_STYLE_H_
