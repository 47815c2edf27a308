# Writes a source that holds the page's files, for cmake -P: FOLDER, FILES (below it), OUTPUT.
set(sections "")
set(names "")
set(entries "")
set(number 0)
foreach(file IN LISTS FILES)
  string(APPEND sections "    \".balign 16\\nfile_${number}:\\n.incbin \\\"${FOLDER}/${file}\\\"\\nfile_${number}_end:\\n.byte 0\\n\"\n")
  string(APPEND names "extern const char file${number}[] asm(\"file_${number}\"), file${number}End[] asm(\"file_${number}_end\");\n")
  string(APPEND entries "      PageFile{\"${file}\", {file${number}, static_cast<size_t>(file${number}End - file${number})}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include <array>

#include \"gateway/server/page_files.h\"

asm(
    \".pushsection .rodata\\n\"
${sections}    \".popsection\\n\");

${names}
namespace tarcil::gateway {

std::span<const PageFile> pageFiles() {
  static const std::array<PageFile, ${number}> kFiles = {
${entries}  };
  return kFiles;
}

}  // namespace tarcil::gateway
")
