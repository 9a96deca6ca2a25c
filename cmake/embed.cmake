# cmake -DINPUT=file -DOUTPUT=file.cpp -DNAME=function -DHEADER=declaration.h -P embed.cmake
# Writes a C++ source with the bytes of a file.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REPEAT "0x..," 20 line) # 20 bytes a line keep compilers and editors happy
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
file(
  WRITE ${OUTPUT}
  "#include \"${HEADER}\"\n\nnamespace tocca {\nnamespace {\nconstexpr unsigned char kBytes[] = {\n${bytes}};\n}\n\n"
  "std::span<const unsigned char> ${NAME}() { return kBytes; }\n\n}  // namespace tocca\n")
